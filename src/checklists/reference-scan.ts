import { badRequest } from '../base/errors.ts';
import { type FoundId, idsIn } from '../catalog/controls/id-grammar.ts';
import { decodeFile } from '../read/decode.ts';
import { ImportError } from '../read/import-error.ts';
import type { ReferenceFact, References } from './reference-schema.ts';
import { referenceStates } from './reference-states.ts';
import { beginningOf, lettersOf, type Vocabulary } from './reference-vocabulary.ts';

/** An id of a text with its place. */
export interface Place extends FoundId {
  line: number;
  column: number;
}

/** The most references of one text (rule D39.1). */
export const mostReferences = 50_000;
/** The largest text, in bytes of UTF-8. */
export const largestText = 8 * 1024 * 1024;

/** The text of a file in UTF-8, in UTF-16 with a byte order mark or in windows-1252; null for a binary file. */
export function fileText(bytes: Uint8Array): string | null {
  try {
    const { text } = decodeFile(bytes);
    return text.includes('\0') ? null : text;
  } catch (error) {
    if (error instanceof ImportError) return null;
    throw error;
  }
}

/** The ids of a text with their places, without STIG ids of no release. Throws a 400 for more than `most`. */
export function placesIn(text: string, vocabulary: Vocabulary, most = mostReferences): Place[] {
  const places: Place[] = [];
  let [line, start, end] = [1, 0, text.indexOf('\n')];
  for (const found of idsIn(text)) {
    if (found.kind === 'stigId' && !isOfRelease(found.id, vocabulary)) continue;
    if (places.length === most) throw badRequest(`The text has more than ${most} ids. Divide it`, '/text');
    for (; end >= 0 && end < found.index; end = text.indexOf('\n', start)) {
      line++;
      start = end + 1;
    }
    places.push({ ...found, line, column: found.index - start + 1 });
  }
  return places;
}

/** Whether the beginning of an id is that of a retained release's, and its end about as long. */
function isOfRelease(id: string, { beginnings }: Vocabulary): boolean {
  const { beginning, length } = beginningOf(id);
  const known = beginnings.get(beginning);
  if (known === undefined) return false;
  // Letters before a number are seldom a beginning by themselves: `NET35` is none of `NET0123`.
  const slack = beginning.endsWith('-') ? 1 : 0;
  return length >= known.shortest - slack && length <= known.longest + slack;
}

/** What to ask the catalog: each id once, in the order of their text. */
export const keyOf = ({ kind, framework, id }: FoundId) => `${kind} ${framework ?? ''} ${id}`;

/** The answer for a text. A control that is unknown counts only where its letters are those of a family. */
export function referencesOf(
  places: Place[],
  facts: Map<string, ReferenceFact>,
  { letters }: Vocabulary,
): References {
  const references = places.flatMap((place) => {
    const fact = facts.get(keyOf(place))!;
    if (place.framework !== null && fact.state === 'unknown' && !letters.has(lettersOf(place))) return [];
    const { text, line, column } = place;
    return [{ text, ...fact, line, column }];
  });
  const counts = Object.fromEntries(referenceStates.map((state) => [state, 0])) as References['counts'];
  for (const { state } of references) counts[state]++;
  return { counts, references };
}
