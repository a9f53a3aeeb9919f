interface Publisher {
  publisher: string;
  publisherId: string;
  jurisdiction: string;
}

const unknown: Publisher = { publisher: '', publisherId: '', jurisdiction: '' };

const cisa: Publisher = {
  publisher: 'Cybersecurity and Infrastructure Security Agency',
  publisherId: 'cisa',
  jurisdiction: 'US',
};
const nist: Publisher = {
  publisher: 'National Institute of Standards and Technology',
  publisherId: 'nist',
  jurisdiction: 'US',
};

const addresses: [RegExp, Publisher][] = [
  [/^https?:\/\/(?:[\w-]{1,63}\.){0,5}(?:cisa\.gov|cyber\.dhs\.gov)(?:\/|$)/i, cisa],
  [/^https?:\/\/(?:(?:[\w-]{1,63}\.){0,5}nist\.gov(?:\/|$)|doi\.org\/10\.6028\/)/i, nist],
];

const directive = /\b(?:binding operational|emergency) directive \d{2}-\d{2}\b/i;

/** The publisher by address, else by a title that only one uses; empty if unknown. */
export function publisherOf(url: string, title: string): Publisher {
  const found = addresses.find(([address]) => address.test(url))?.[1];
  return found ?? (url === '' && directive.test(title) ? cisa : unknown);
}

const doctypes: [RegExp, string][] = [
  [/\bdirective\b/i, 'directive'],
  [/\b(?:guidelines?|special publication)\b/i, 'guideline'],
  [/\bstandards?\b/i, 'standard'],
  [/\bframework\b/i, 'framework'],
  [/\bregulations?\b/i, 'regulation'],
  [/\bpolic(?:y|ies)\b/i, 'policy'],
  [/\bact\b/i, 'law'],
];

/** The kind of a document by its title. */
export function doctypeOf(title: string): string {
  return doctypes.find(([word]) => word.test(title))?.[1] ?? 'other';
}
