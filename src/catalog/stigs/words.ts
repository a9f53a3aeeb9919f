/** A stretch of text that two texts share, or that one of them alone has. */
export interface TextSegment {
  kind: 'equal' | 'removed' | 'added';
  text: string;
}

/** Up to this many characters of both texts together words are compared, or lines; what is longer is taken whole. */
const maxWordCharacters = 200_000;
const maxLineCharacters = 4_000_000;
/** How many comparisons one look at two texts may cost: some 20 ms. */
const maxSteps = 2_000_000;

/**
 * What changed from one text to another, word by word: a word, a run of blanks and any other character are units. The
 * segments that are not `added` make up the old text, those that are not `removed` the new one. Work is bounded: where
 * two texts are too long or too different, whole lines are compared, and at last everything between what they share
 * at their beginnings and ends counts as changed.
 */
export function changedWords(old: string, now: string): TextSegment[] {
  const words = /[\p{L}\p{N}_]+|\s+|./gsu;
  const lines = /[^\n]*\n|[^\n]+/g;
  const characters = old.length + now.length;
  if (characters > maxLineCharacters) return tidy(compareUnits([old], [now], 0)!);
  if (characters <= maxWordCharacters) {
    const segments = compareUnits(old.match(words) ?? [], now.match(words) ?? [], maxSteps);
    if (segments) return tidy(segments);
  }
  const [before, after] = [old.match(lines) ?? [], now.match(lines) ?? []];
  return tidy(compareUnits(before, after, maxSteps) ?? compareUnits(before, after, 0)!);
}

/** Compares two sequences; null when that takes more steps than allowed. With no steps only the ends are compared. */
function compareUnits(old: string[], now: string[], steps: number): TextSegment[] | null {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < now.length - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end++;
  const before = old.slice(start, old.length - end);
  const after = now.slice(start, now.length - end);
  const middle =
    steps === 0 || before.length === 0 || after.length === 0
      ? [segment('removed', before), segment('added', after)]
      : shortestEdit(before, after, steps);
  if (middle === null) return null;
  return [segment('equal', old.slice(0, start)), ...middle, segment('equal', old.slice(old.length - end))];
}

const segment = (kind: TextSegment['kind'], units: string[]): TextSegment => ({ kind, text: units.join('') });

/** Myers' greedy algorithm: for each number of edits, how far each diagonal reaches; the way back gives the edits. */
function shortestEdit(old: string[], now: string[], maxSteps: number): TextSegment[] | null {
  const [n, m] = [old.length, now.length];
  const reach = new Int32Array(2 * (n + m) + 3);
  const zero = n + m + 1;
  const trace: Int32Array[] = [];
  let steps = 0;
  for (let edits = 0; edits <= n + m; edits++) {
    // Only what the way back needs: diagonals -edits to edits as they were before this round.
    trace.push(reach.slice(zero - edits - 1, zero + edits + 2));
    steps += 2 * edits + 3;
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && reach[zero + k - 1]! < reach[zero + k + 1]!);
      let x = isDown ? reach[zero + k + 1]! : reach[zero + k - 1]! + 1;
      while (x < n && x - k < m && old[x] === now[x - k]) {
        x++;
        steps++;
      }
      reach[zero + k] = x;
      if (x >= n && x - k >= m) return wayBack(old, now, trace);
    }
    if (steps > maxSteps) return null;
  }
  throw new Error('two sequences are always some edits apart');
}

function wayBack(old: string[], now: string[], trace: Int32Array[]): TextSegment[] {
  const segments: TextSegment[] = [];
  let [x, y] = [old.length, now.length];
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const reach = trace[edits]!;
    const zero = edits + 1;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && reach[zero + k - 1]! < reach[zero + k + 1]!);
    const fromX = edits === 0 ? 0 : reach[zero + (isDown ? k + 1 : k - 1)]!;
    const fromY = edits === 0 ? 0 : fromX - (isDown ? k + 1 : k - 1);
    const [atX, atY] = edits === 0 ? [0, 0] : isDown ? [fromX, fromY + 1] : [fromX + 1, fromY];
    segments.push(segment('equal', old.slice(atX, x)));
    if (edits > 0)
      segments.push(
        isDown ? segment('added', now.slice(fromY, atY)) : segment('removed', old.slice(fromX, atX)),
      );
    [x, y] = [fromX, fromY];
  }
  return segments.reverse();
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
