import type { User } from '../auth/viewer.ts';
import { citation } from '../base/citation.ts';
import { AppError, badRequest } from '../base/errors.ts';
import { pick } from '../base/objects.ts';
import { brief, jsonBeginning, jsonLength } from '../base/text.ts';
import { Missing } from '../catalog/search/spelled.ts';

/** What a tool answers, without the digest, which all answers get (rule D41.4); `next` is a call, ready to be made. */
export type Answer = {
  found: boolean;
  truncated?: true;
  next?: { tool: string; arguments: object };
} & Record<string, unknown>;

/** A call with what its answer needs: plain values, as a query worker answers it. */
export interface Call {
  tool: string;
  args: { [name: string]: string | undefined };
  /** The caller, where the tool or an argument needs one. */
  user: User | null;
  digest: string;
  /** How many rows, or characters of texts, earlier parts had. */
  at: number;
  /** The most characters of the answer. */
  most: number;
}

/** The caller lacks the right that a tool needs. One text for all causes (rule D41.2). */
export class Refused extends Error {}

/** The members that say something: without empty arrays and what is undefined. */
export const withoutEmpty = (from: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(from).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  );

/** What `read` gives, or in place of its 404 what `missing` says. */
export function orMissing<T>(read: () => T, missing: () => Missing): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof AppError && error.code === 'NOT_FOUND' ? missing() : error;
  }
}

/** The same for a list: one that is not there, and one that the caller may not see, are the same bytes (rule D41.5). */
export const ofList = <T>(read: () => T): T =>
  orMissing(read, () => new Missing('unknown_id', 'No list with this id. my_lists gives the ids'));

const means = {
  stale: 'A SCAP content tests another revision of the rule, none tests this one',
  none: 'No imported SCAP content has the rule',
};

/** What the states of automation mean that do not explain themselves, where an answer has them. */
export function automationMeans(states: Iterable<string>): { automationMeans?: Partial<typeof means> } {
  const shown = new Set(states);
  const explained = Object.entries(means).filter(([state]) => shown.has(state));
  return explained.length === 0 ? {} : { automationMeans: Object.fromEntries(explained) };
}

/** The states of automation of which there are rules. */
export const statesIn = (totals: Record<string, number>) =>
  Object.keys(totals).filter((state) => totals[state]! > 0);

/** The most ids of a kind in an answer. */
export const mostListed = 100;

const charactersPerToken = 4;
const tokens = { short: 2000, full: 6000 };
/** Room for `truncated` and `next`. */
const tail = 600;

/**
 * A publisher's ids have any length: where a value takes more than `room` characters, its longest texts are cut, so that
 * the limit of an answer holds.
 */
export function within<T extends object>(value: T, room: number): T {
  let fitting = value;
  for (let longest = 256; longest >= 16 && jsonLength(fitting) > room; longest /= 4)
    fitting = JSON.parse(
      JSON.stringify(value, (_, each) => (typeof each === 'string' ? brief(each, longest) : each)),
    ) as T;
  return fitting;
}

/** The most characters of an answer (rule D41.3). */
export const mostCharacters = (detail: unknown): number =>
  (detail === 'full' ? tokens.full : tokens.short) * charactersPerToken;

const short = (digest: string) => digest.slice(0, 12);

/** Where a part begins. Throws a 400 for the cursor of another catalog, or for another text. */
export function startOf(cursor: unknown, digest: string): number {
  if (cursor === undefined) return 0;
  const [, of, at] = /^([0-9a-f]{12})-(\d{1,9})$/.exec(String(cursor)) ?? [];
  if (at === undefined) throw badRequest('cursor must be that of a `next`: copy it');
  if (of !== short(digest))
    throw badRequest('The catalog has changed since this `next` was made: ask again without cursor');
  return Number(at);
}

function continued({ tool, args, digest }: Call, at: number): Pick<Answer, 'truncated' | 'next'> {
  const { cursor: _, ...given } = args;
  return { truncated: true, next: { tool, arguments: { ...given, cursor: `${short(digest)}-${at}` } } };
}

/**
 * An answer with as many rows as fit. `rows` are those from the call's place on; `total` says how many there are in
 * all, so that `next` leads to the rest.
 */
export function withRows(call: Call, whole: Answer, name: string, rows: object[], total: number): Answer {
  const head = within(whole, call.most / 2);
  const room =
    call.most - tail - jsonLength({ ...head, digest: call.digest, [name]: [] }) - jsonLength(call.args);
  const taken: object[] = [];
  let size = 0;
  const limit = Number(call.args.limit ?? rows.length);
  for (const each of rows.slice(0, limit)) {
    const row = within(each, call.most / 4);
    size += jsonLength(row) + 1;
    if (size > room && taken.length > 0) break;
    taken.push(row);
  }
  const end = call.at + taken.length;
  return { ...head, [name]: taken, ...(end < total && taken.length > 0 ? continued(call, end) : {}) };
}

/** An answer with long texts of a publisher as `source`, in parts: each begins where the one before ended. */
export function withTexts(call: Call, whole: Answer, texts: Record<string, string>): Answer {
  const head = within(whole, call.most / 2);
  const names = Object.keys(texts).filter((name) => texts[name] !== '');
  let room =
    call.most - tail - jsonLength({ ...head, digest: call.digest, source: {} }) - jsonLength(call.args);
  let skip = call.at;
  let end = call.at;
  const source: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const text = texts[name]!;
    const rest = text.slice(skip);
    skip = Math.max(0, skip - text.length);
    if (rest === '') continue;
    room -= name.length + '"":"",'.length;
    const part = jsonBeginning(rest, room);
    if (part !== '') source[name] = part;
    end += part.length;
    room -= jsonLength(part) - 2;
    if (part.length < rest.length || (room < 40 && index < names.length - 1))
      return { ...head, source, ...continued(call, end) };
  }
  return { ...head, source };
}

/** A rule as a row: its citation, and what tells it from others. */
export const ruleRow = (slug: string, version: string, rule: Heading) => ({
  cite: citation(slug, version, rule.ruleId),
  ...pick(rule, 'groupId', 'ruleVersion', 'severity'),
  ruleTitle: brief(rule.ruleTitle),
});
type Heading = Record<'groupId' | 'ruleId' | 'ruleVersion' | 'ruleTitle' | 'severity', string>;
