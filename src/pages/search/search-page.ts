import { type IdAnswer, mostAnswers, type SearchAnswer } from '../../catalog/search/schema.ts';

/** Things of one kind whose names hold the query. */
export interface FoundKind {
  name: string;
  /** One of them, for a sentence. */
  one: 'STIG' | 'control' | 'CCI' | 'role' | 'document';
  /** Of controls and CCIs. */
  framework?: string;
  /** What was searched for. */
  text: string;
  total: number;
  items: { id: string; label: string; about: string }[];
  /** The query is its exact name: it appears above the rules. */
  isFirst: boolean;
}

export interface SearchPage {
  q: string;
  hasWords: boolean;
  filter: {
    severity: string[];
    stig: string[];
    list: string;
    cci: string;
    control: string;
    sort: string;
  };
  entitlements: ReadonlySet<string> | null;
  /** What the field for a STIG offers. */
  stigs: { slug: string; title: string }[];
  /** The titles of the STIGs that are named. */
  titles: ReadonlyMap<string, string>;
  lists: { id: string; name: string }[];
  /** The reader's own lists, to add STIGs to. */
  own: { id: string; name: string }[];
  /** Results by name; null if names were not searched. */
  kinds: FoundKind[] | null;
  rules: SearchAnswer | null;
  /** What the ids of the query name. */
  answers: IdAnswer[];
  /** Whether the query is a citation that the reader may open. */
  isCitation: boolean;
  /** Whether nothing but what is shipped was imported. */
  onlySamples: boolean;
  problem: { status: 400 | 404; text: string } | null;
}

/** Whether a filter excludes some rules. */
export function isNarrowed({ severity, stig, list, cci, control }: SearchPage['filter']): boolean {
  return severity.length > 0 || stig.length > 0 || [list, cci, control].some((text) => text !== '');
}

/** Whether the query is several ids and nothing else; of more than 50 the first are answered. */
export function isOfIds({ q, answers }: Pick<SearchPage, 'q' | 'answers'>): boolean {
  const words = (text: string) =>
    text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .join(' ');
  const [asked, answered] = [words(q), words(answers.map((each) => each.asked).join(' '))];
  return (
    answers.length > 1 &&
    (asked === answered || (answers.length >= mostAnswers && asked.startsWith(answered)))
  );
}

/** The query without quotation marks and stars, which names do not contain. */
export function plain(q: string): string {
  return q
    .replace(/["“”*]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
