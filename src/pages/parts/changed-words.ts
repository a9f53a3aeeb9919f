import { diffArrays } from 'diff';

/** A stretch of text that both texts have, or only one of them. */
export interface TextSegment {
  kind: 'equal' | 'removed' | 'added';
  text: string;
}

/** The limit of differing units: the work grows with its square. */
const maxEditLength = 1000;

/**
 * Compares two texts word by word: a word, a run of blanks and any other character are units. All segments but `added`
 * make up the old text, all but `removed` the new one. The work is bounded: very different texts are compared by lines,
 * or else as a whole.
 */
export function changedWords(old: string, now: string): TextSegment[] {
  const words = /[\p{L}\p{N}_]+|\s+|./gsu;
  const lines = /[^\n]*\n|[^\n]+/g;
  for (const units of [words, lines]) {
    const changes = diffArrays(old.match(units) ?? [], now.match(units) ?? [], { maxEditLength });
    if (changes)
      return tidy(
        changes.map(({ value, added, removed }) => ({
          kind: added ? 'added' : removed ? 'removed' : 'equal',
          text: value.join(''),
        })),
      );
  }
  return tidy([
    { kind: 'removed', text: old },
    { kind: 'added', text: now },
  ]);
}

/** Merges neighbors: a blank between two changes joins them, and `removed` precedes `added`. */
function tidy(segments: TextSegment[]): TextSegment[] {
  const tidied: TextSegment[] = [];
  let [removed, added] = ['', ''];
  const flush = () => {
    if (removed !== '') tidied.push({ kind: 'removed', text: removed });
    if (added !== '') tidied.push({ kind: 'added', text: added });
    [removed, added] = ['', ''];
  };
  const parts = segments.filter(({ text }) => text !== '');
  for (const [index, { kind, text }] of parts.entries()) {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else if ((removed !== '' || added !== '') && index < parts.length - 1 && /^[^\S\n]+$/.test(text)) {
      removed += text;
      added += text;
    } else {
      flush();
      const last = tidied.at(-1);
      if (last?.kind === 'equal') last.text += text;
      else tidied.push({ kind, text });
    }
  }
  flush();
  return tidied;
}
