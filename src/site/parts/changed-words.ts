import { diffArrays } from 'diff';

/** A stretch of text that two texts share, or that one of them alone has. */
export interface TextSegment {
  kind: 'equal' | 'removed' | 'added';
  text: string;
}

/** How many units two texts may be apart: the work grows with the square of it. */
const maxEditLength = 1000;

/**
 * What changed from one text to another, word by word: a word, a run of blanks and any other character are units. The
 * segments that are not `added` make up the old text, those that are not `removed` the new one. Work is bounded: where
 * two texts are too different, whole lines are compared, and at last the whole texts.
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

/** Joins what belongs together: a blank between two changes is part of them, and what went comes before what came. */
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
