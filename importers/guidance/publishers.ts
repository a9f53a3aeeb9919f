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

const directive = /\b(?:binding operational|emergency) directive \d{2}-\d{2}\b/i;

/** The publisher by address, else by a title that only one uses; empty if unknown. */
export function publisherOf(url: string, title: string): Publisher {
  if (url === '') return directive.test(title) ? cisa : unknown;
  const { hostname, pathname } = new URL(url);
  const isAt = (domain: string) => `.${hostname}`.endsWith(`.${domain}`);
  if (isAt('cisa.gov') || isAt('cyber.dhs.gov')) return cisa;
  return isAt('nist.gov') || (hostname === 'doi.org' && pathname.startsWith('/10.6028/')) ? nist : unknown;
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
