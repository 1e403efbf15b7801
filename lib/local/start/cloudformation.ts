import { StartError } from './start-error.js';

/** A value in a template. */
export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

/** A resource in a template. */
export interface Resource {
  readonly Type: string;
  readonly Properties?: Record<string, Value>;
}

/** The account and Region that the local server pretends to be in. */
export const localAws = { accountId: '000000000000', region: 'us-east-1', partition: 'aws' } as const;

const pseudoParameters: ReadonlyMap<string, string> = new Map([
  ['AWS::AccountId', localAws.accountId],
  ['AWS::Region', localAws.region],
  ['AWS::Partition', localAws.partition],
  ['AWS::URLSuffix', 'amazonaws.com'],
]);

/** What references to a resource stand for. */
export interface ResourceNames {
  /** What `Ref` gives. */
  readonly ref: string;
  /** What `Fn::GetAtt` gives, by attribute. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Turns the references that an environment variable can hold into text. */
export function resolveText(value: Value | undefined, names: ReadonlyMap<string, ResourceNames>): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const { Ref: ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value;
    if (typeof ref === 'string') {
      const text = pseudoParameters.get(ref) ?? names.get(ref)?.ref;
      if (text !== undefined) return text;
    }
    if (Array.isArray(attribute) && typeof attribute[0] === 'string' && typeof attribute[1] === 'string') {
      const attributes = names.get(attribute[0])?.attributes ?? {};
      const text = Object.hasOwn(attributes, attribute[1]) ? attributes[attribute[1]] : undefined;
      if (text !== undefined) return text;
    }
    if (Array.isArray(join) && typeof join[0] === 'string' && Array.isArray(join[1])) {
      return join[1].map((part) => resolveText(part, names)).join(join[0]);
    }
  }
  throw new StartError(`The template holds a value that cannot be worked out locally: ${JSON.stringify(value)}.`);
}
