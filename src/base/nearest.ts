/** How many letters must be added, removed, changed or exchanged with their neighbor to make one word of another. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + Number(a[i - 1] !== b[j - 1]);
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}

const longest = 64;

/** `: did you mean "..."?` with the word of a list that is nearest to a wrong one (rule D44.3); else empty. */
export function didYouMean(wrong: string, words: readonly string[], prefix = ''): string {
  const word = wrong.slice(0, longest).toLowerCase();
  const ranked = words
    .map((each) => ({ each, far: each.startsWith(word) && word.length > 2 ? 1 : distance(word, each) }))
    .sort((a, b) => a.far - b.far);
  const [best] = ranked;
  if (best === undefined || best.far > Math.max(1, Math.floor(best.each.length / 3))) return '';
  return `: did you mean "${prefix}${best.each}"?`;
}
