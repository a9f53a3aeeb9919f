/** A regular expression for any of some patterns, one on each line. */
function anyOf(patterns: string, flags = 'i'): RegExp {
  return new RegExp(patterns.trim().split(/\n\s*/).join('|'), flags);
}

const abbreviation =
  'e.g i.e a.k.a etc cf vs al No Nos Sec Secs Fig Figs Dr Mr Ms Mrs Inc Corp Ltd Co St U.S U.S.C U.K Id approx p pp art ch para';
const abbreviations = new RegExp(
  `(?:^|[\\s("“])(?:${abbreviation.replaceAll('.', '\\.').replaceAll(' ', '|')}|[A-Z])\\.$`,
  'i',
);

// `11:59 p.m. ET`: the time zone continues the sentence.
const hour = /\b[ap]\.m\.$/;
const zone = /^\s+(?:[ECMP][SD]?T|UTC|GMT|Eastern|Central|Mountain|Pacific)\b/;

/**
 * The sentences of a plain text. `.`, `!` or `?` ends one if a blank and a capital, digit or opening quote follow, but
 * not in an abbreviation. Without locale data: all machines must give the same sentences.
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

export interface Reading {
  /** `duty` for must and shall, `advice` for should, else null (data/REGULATORY.md). */
  force: 'duty' | 'advice' | null;
  specification: boolean;
  timingOrTrigger: boolean;
  applicationConditions: string;
  exemptConditions: string;
}

// A quoted word is not used as a demand; "as required" and "may be required" demand nothing.
const duty = anyOf(String.raw`
  (?<!["“‘'])\b(?:must|shall|mandatory|prohibited|required to)\b(?!["”’'])
  (?<!["“‘'])\b(?:is|are|be|been|was|were)(?: \w+ly| also| further| hereby)? required\b(?!["”’'])
`);
const notDuty = anyOf(
  String.raw`
  \b(?:not|as|if|where|when) required\b
  \bnot (?:mandatory|prohibited)\b
  \b(?:nothing|none)(?: \w+)? is (?:required|mandatory|prohibited)\b
  \b(?:may|might|can|could)(?: \w+)? be (?:required|mandatory|prohibited)\b
`,
  'gi',
);
const advice = anyOf(String.raw`(?<!["“‘'])\b(?:should|recommended)\b(?!["”’'])`);

const measure = anyOf(String.raw`
  \b(?:at least|at most|no (?:more|fewer|less) than|minimum|maximum)\b
  \b\d+(?:\.\d+)?(?:[ -]?(?:%|percent|bits?|bytes?|characters?|digits?|factors?|minutes?|seconds?|attempts?)\b|%)
  \b(?:FIPS|RFC|SP|ISO|IEC|TLS|SHA|AES|CVSS|CVE|UAX)[ -]?v?\d
`);

const months = 'January|February|March|April|May|June|July|August|September|October|November|December';
const timing = anyOf(String.raw`
  \bwithin (?:\w+ )?(?:\d+|an?|one|two|three|\w+) (?:\w+ )?(?:hours?|days?|weeks?|months?|years?|minutes?)
  \bno later than\b
  \b(?:by|before|on|until|after) (?:\d{1,2}[:\d]*\s?[ap]m|(?:\w+ ){0,8}(?:${months}) \d{1,2}|the end of)
  \b\d+ (?:\w+ )?(?:hours|days|weeks|months|years)\b
  \b(?:annually|yearly|quarterly|monthly|weekly|daily|hourly|periodically|continuously|immediately)\b
  \b(?:every|each) (?:\d+|year|quarter|month|week|day)\b
  \b(?:upon|whenever|when|as soon as|prior to|before|after|until|once)\b
`);

const exemption =
  /\b(?:unless|except|excluding|with the exception of|other than|(?:does|do|shall|must) not apply to)\b[^,;.]*/gi;
const condition =
  /(?:^(?:for|at [A-Z]+\d)\b|\b(?:if|when|whenever|where|provided that|in the event(?: that| of)?|in cases? where)\b)[^,;.:]*/gi;

export function readSentence(sentence: string): Reading {
  const isQuestion = sentence.endsWith('?') || /^(?:how|what|why|who|does|do|can)\b/i.test(sentence);
  const exempt = sentence.match(exemption) ?? [];
  const rest = sentence.replace(exemption, ' ');
  return {
    force: isQuestion ? null : forceOf(sentence),
    specification: measure.test(sentence),
    timingOrTrigger: timing.test(sentence),
    applicationConditions: clauses(rest.match(condition) ?? []),
    exemptConditions: clauses(exempt),
  };
}

function forceOf(sentence: string): Reading['force'] {
  if (duty.test(sentence.replace(notDuty, ' '))) return 'duty';
  return advice.test(sentence) ? 'advice' : null;
}

function clauses(found: string[]): string {
  return found
    .map((clause) => clause.trim())
    .filter((clause) => /\s/.test(clause))
    .join('; ');
}
