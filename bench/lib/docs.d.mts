export declare const pages: readonly string[];
export declare const measuredTables: () => Readonly<Record<string, string>>;
export declare const filled: (page: string, tables: Readonly<Record<string, string>>) => Promise<string>;
