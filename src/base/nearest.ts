import { diffChars } from 'diff';

const longest = 64;

/** How many letters must be added or removed to make a word of a wrong one; infinite for another word. */
function distance(wrong: string, word: string): number {
  if (word.startsWith(wrong) && wrong.length > 2) return 1;
  const most = Math.max(1, Math.floor(word.length / 3));
  if (Math.abs(wrong.length - word.length) > most) return Number.POSITIVE_INFINITY;
  // A letter that was exchanged is one more and one less.
  const changes = diffChars(wrong, word, { maxEditLength: most + 1 });
  return (
    changes?.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0) ??
    Number.POSITIVE_INFINITY
  );
}

/** `: did you mean "..."?` with the word of a list that is nearest to a wrong one (rule D44.3); else empty. */
export function didYouMean(wrong: string, words: readonly string[], prefix = ''): string {
  const start = wrong.slice(0, longest).toLowerCase();
  const ranked = words
    .map((word) => ({ word, far: distance(start, word) }))
    .filter(({ far }) => far < Number.POSITIVE_INFINITY)
    .sort((a, b) => a.far - b.far);
  const [best] = ranked;
  return best === undefined ? '' : `: did you mean "${prefix}${best.word}"?`;
}
