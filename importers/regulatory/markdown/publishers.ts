interface Publisher {
  publisher: string;
  publisherId: string;
  jurisdiction: string;
}

const unknown: Publisher = { publisher: '', publisherId: '', jurisdiction: '' };

/** Who publishes what is found at an address: the text itself does not say it in a form that could be read. */
const publishers: [RegExp, Publisher][] = [
  [
    /^https:\/\/(?:www\.)?cisa\.gov\//,
    {
      publisher: 'Cybersecurity and Infrastructure Security Agency',
      publisherId: 'cisa',
      jurisdiction: 'US',
    },
  ],
  [
    /^https:\/\/doi\.org\/10\.6028\//,
    { publisher: 'National Institute of Standards and Technology', publisherId: 'nist', jurisdiction: 'US' },
  ],
];

/** The publisher of an address; empty texts for one that is not known. */
export function publisherOf(url: string): Publisher {
  return publishers.find(([address]) => address.test(url))?.[1] ?? unknown;
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

/** The kind of a document by the words of its title. */
export function doctypeOf(title: string): string {
  return doctypes.find(([word]) => word.test(title))?.[1] ?? 'other';
}
