const abbreviations =
  /(?:^|[\s("“])(?:e\.g|i\.e|a\.k\.a|etc|cf|vs|al|No|Nos|Sec|Secs|Fig|Figs|Dr|Mr|Ms|Mrs|Inc|Corp|Ltd|Co|St|U\.S|U\.S\.C|U\.K|Id|approx|pp?|art|ch|para|[A-Z])\.$/i;

// `11:59 p.m. ET`: an hour that goes on with its zone.
const hour = /\b[ap]\.m\.$/;
const zone = /^\s+(?:[ECMP][SD]?T|UTC|GMT|Eastern|Central|Mountain|Pacific)\b/;

/**
 * The sentences of a plain text. A sentence ends at `.`, `!` or `?` with its closing quotes and brackets where a blank
 * and a capital, digit or opening quote follow, but not after an abbreviation. No locale data is asked, so the same text
 * gives the same sentences everywhere.
 */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  const end = /[.!?]["”’')\]]*(?=\s+["“‘'([]?[\p{Lu}\d])/gu;
  for (const match of text.matchAll(end)) {
    const stop = match.index + match[0].length;
    if (match[0] === '.' && abbreviations.test(text.slice(Math.max(start, stop - 12), stop))) continue;
    if (hour.test(text.slice(Math.max(start, stop - 5), stop)) && zone.test(text.slice(stop, stop + 12)))
      continue;
    sentences.push(text.slice(start, stop).trim());
    start = stop;
  }
  const rest = text.slice(start).trim();
  return rest === '' ? sentences : [...sentences, rest];
}
