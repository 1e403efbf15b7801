import type { Body } from './types.js';

/** An answer other than 200, in the form that DynamoDB gives it. */
export class ApiError extends Error {
  constructor(
    readonly statusCode: number,
    readonly body: Body & { __type: string },
  ) {
    super((body['message'] ?? body['Message'] ?? body.__type) as string);
    this.name = errorName(body.__type);
  }
}

/** What dynalite's modules hand to their callbacks: an Error that carries status and body. */
interface EngineError {
  statusCode: number;
  body: Body & { __type: string };
}

/** True for errors that are answers to the caller, ours or dynalite's; anything else is a defect. */
export function isApiError(error: unknown): error is EngineError & Error {
  return error instanceof Error && 'statusCode' in error && 'body' in error;
}

/** The name by which the SDK knows an error: `ns#Name` without its namespace. */
export function errorName(type: string): string {
  return type.slice(type.indexOf('#') + 1);
}

export function isConditionFailure(error: unknown): error is EngineError & Error {
  return isApiError(error) && errorName(error.body.__type) === 'ConditionalCheckFailedException';
}

const SERVICE = 'com.amazonaws.dynamodb.v20120810#';

/** An error of the service itself, by its short name. */
export function serviceError(name: string, message: string, extra: Body = {}): ApiError {
  return new ApiError(400, { __type: SERVICE + name, message, ...extra });
}

export function validationError(message: string): ApiError {
  return new ApiError(400, { __type: 'com.amazon.coral.validate#ValidationException', message });
}

export function serializationError(message: string): ApiError {
  return new ApiError(400, { __type: 'com.amazon.coral.service#SerializationException', Message: message });
}

/** A request is at most 16 MB. */
export function requestTooLarge(): ApiError {
  const message = 'The request is larger than 16 MB';
  return new ApiError(413, { __type: 'com.amazon.coral.validate#ValidationException', message });
}

export function internalError(message: string): ApiError {
  return new ApiError(500, { __type: `${SERVICE}InternalServerError`, message });
}

/** The operations on items leave the name out of the sentence; those on tables say it. */
export function tableNotFound(name?: string): ApiError {
  return serviceError(
    'ResourceNotFoundException',
    name === undefined ? 'Requested resource not found' : `Requested resource not found: Table: ${name} not found`,
  );
}
