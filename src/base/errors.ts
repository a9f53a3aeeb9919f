/** The stable codes of rule D2.1 with their HTTP status. */
export const statusOf = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** An error answer: a code of D2.1, a message for the caller, extra response headers, the field that it is about. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly headers: Record<string, string>;
  readonly field: string | undefined;

  constructor(code: ErrorCode, message: string, headers: Record<string, string> = {}, field?: string) {
    super(message);
    this.name = 'AppError';
    this.code = code;
    this.headers = headers;
    this.field = field;
  }
}

/** The exit codes of rule D20; a command that a signal stopped ends as shells expect. */
type ExitCode = 1 | 2 | 3 | 130 | 143;

/** A failed command: one line for the operator, and its exit code. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = 1) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

/** The 401 of every route that takes a token (D1.5). */
export function unauthorized(message = 'Missing or invalid Authorization header'): AppError {
  return new AppError('UNAUTHORIZED', message, { 'WWW-Authenticate': 'Bearer' });
}

/** The 401 of a route that takes a session alone (D54.3). */
export const noSession = () =>
  unauthorized('Missing or expired session: sign in with POST /api/v1/session and send its cookie');

export function forbidden(message: string): AppError {
  return new AppError('FORBIDDEN', message);
}

/** The 404 of a list, collection, document or role. It names nothing, so that it reveals nothing (D2.2, D2.5). */
export function notFound(field?: string): AppError {
  return new AppError('NOT_FOUND', 'Not found', {}, field);
}

/** The 404 of a field that names what is not there (rules D35.3, D42.1). */
export function notThere(field: string | undefined, message: string): AppError {
  return new AppError('NOT_FOUND', message, {}, field);
}

export function noSuchPath(): AppError {
  return new AppError('NOT_FOUND', 'This path does not exist');
}

/** A 400 whose message names the field and the rule (D2.2). */
export function badRequest(message: string, field?: string): AppError {
  return new AppError('BAD_REQUEST', message, {}, field);
}

/** A 503 with the seconds to wait. */
export function unavailable(message: string, seconds: number): AppError {
  return new AppError('UNAVAILABLE', message, { 'Retry-After': String(seconds) });
}

/** Ends the work for a client that has disconnected. */
export function callerGone(): AppError {
  return badRequest('The client closed the connection');
}
