import { AppError, badRequest } from '../base/errors.ts';

/** The revisions that an `If-Match` header names; null where any will do. */
export type Match = ReadonlySet<number> | null;

const wrongHeader = 'If-Match must be * or a list of entity tags in quotation marks, as ETag gives them';

/**
 * Reads an `If-Match` header (RFC 9110 13.1.1): of each strong tag the revision that it begins with (rule D36.4). A weak
 * tag matches nothing. Throws a 400 for what is no list of tags.
 */
export function readIfMatch(header: string | undefined): Match {
  if (header === undefined || header.trim() === '*') return null;
  const tags = header
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  // No tag of ours has a comma.
  const isTag = (text: string) => /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/.test(text);
  if (tags.length === 0 || !tags.every(isTag)) throw badRequest(wrongHeader);
  const revisions = tags.map((tag) => Number(/^"([1-9]\d{0,15})[-"]/.exec(tag)?.[1] ?? 0));
  return new Set(revisions.filter((revision) => revision > 0));
}

/** Throws 412 where the header names other revisions than this. */
export function requireMatch(match: Match, revision: number): void {
  if (match !== null && !match.has(revision))
    throw new AppError(
      'PRECONDITION_FAILED',
      'It was changed since the answer whose tag If-Match names. Read it again',
    );
}
