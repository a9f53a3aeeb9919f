// The constants of bm25 in FTS5.
const [saturation, lengthShare, leastRarity] = [1.2, 0.75, 1e-6];

/** What a word counts that `having` of all texts have. */
export function rarityOf(having: number, all: number): number {
  const rarity = Math.log((all - having + 0.5) / (having + 0.5));
  return rarity <= 0 ? leastRarity : rarity;
}

/** What the length of a text counts against it, in words. */
export const weightOfLength = (words: number, mean: number): number =>
  saturation * (1 - lengthShare + (lengthShare * words) / mean);

/** What it counts that a text has a word `count` times. More is better: FTS5 gives the negative. */
export const bm25 = (rarity: number, count: number, length: number): number =>
  rarity * ((count * (saturation + 1)) / (count + length));
