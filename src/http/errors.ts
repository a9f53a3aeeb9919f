import { HTTPException } from 'hono/http-exception';
import { AppError, badRequest } from '../base/errors.ts';
import { type StorageFault, storageFault } from '../db/faults.ts';

/** What a caller is told, and after how many seconds to try again, when the storage fails; a damaged file is a 500. */
const unavailable: Partial<Record<StorageFault, [string, string]>> = {
  busy: ['The database is busy', '5'],
  full: ['The database takes no changes now: there is no room', '30'],
  readonly: ['The database takes no changes now', '30'],
  io: ['The database does not answer', '30'],
};

/** What an error is to the caller. */
export function toAppError(error: Error): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400)
    return badRequest('The request body is not valid JSON');
  const fault = storageFault(error);
  const answer = fault === null ? undefined : unavailable[fault];
  if (answer) return new AppError('UNAVAILABLE', answer[0], { 'Retry-After': answer[1] });
  return new AppError('INTERNAL_ERROR', 'Something went wrong; the log knows more under the request id');
}
