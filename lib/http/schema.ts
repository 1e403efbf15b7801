import { ProblemError, problems } from './problem.js';

/** A schema of any library that follows the Standard Schema (https://standardschema.dev). */
export interface Schema<out T> {
  readonly '~standard': {
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>;
  };
}

/** See {@link Schema}. */
export type SchemaResult<T> =
  { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** See {@link Schema}. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What an issue says to the client; its text must not quote the request. */
export type DescribeIssue = (issue: SchemaIssue) => string;

const most = 20;

/** Where an issue is, as a JSON pointer. A name that is no plain one is the client's data, and not repeated. */
const pointer = ({ path = [] }: SchemaIssue): string =>
  path
    .map((step) => String(typeof step === 'object' ? step.key : step))
    .map((name) => `/${/^[\w-]{1,64}$/.test(name) ? name : '*'}`)
    .join('');

/**
 * The body as the schema has it.
 *
 * @throws ProblemError 400, with the places of the first 20 issues
 */
export const validated = async <T>(schema: Schema<T>, body: unknown, describe?: DescribeIssue): Promise<T> => {
  const result = await schema['~standard'].validate(body);
  if (result.issues === undefined) return result.value;
  const errors = result.issues
    .slice(0, most)
    .map((issue) => ({ pointer: pointer(issue), ...(describe && { detail: describe(issue) }) }));
  throw new ProblemError(problems.bodyInvalid('The body is not what this endpoint takes.', errors));
};
