import { readCitation } from '../../base/citation.ts';
import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import { frameworkKey } from '../controls/frameworks.ts';
import { idsOf } from '../controls/id-grammar.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { StigService } from '../stigs/queries.ts';

// Names and ids as people write them.

/** What is not there: never an empty success (rule D41.4). */
export type Reason = 'unknown_id' | 'not_imported' | 'removed' | 'ambiguous' | 'no_match';

/** Ends a question with what is not there. */
export class Missing extends Error {
  readonly answer: { found: false; reason: Reason; advice: string };
  constructor(reason: Reason, advice: string, more: Record<string, unknown> = {}) {
    super(advice);
    this.answer = { found: false, reason, advice, ...more };
  }
}

const mostCandidates = 8;

/** A release as people write it: `V2R8`, `v2 r8`, `2.8`, `Version 2, Release: 8`; undefined for the newest. */
export function releaseOf(text: string | undefined): string | undefined {
  const given = text?.trim() ?? '';
  if (/^(?:|latest|newest|current)$/i.test(given)) return undefined;
  const [, version, release] =
    /^v(?:er(?:sion)?)?[\s._-]*(\d{1,4})[\s,._-]*r(?:el(?:ease)?)?[\s:._-]*(\d{1,4}(?:\.\d{1,4})*)$/i.exec(
      given,
    ) ??
    /^(\d{1,4})\.(\d{1,4})$/.exec(given) ??
    [];
  return version === undefined
    ? given.toUpperCase()
    : `V${Number(version)}R${release!.replace(/^0+(?=\d)/, '')}`;
}

/** Severities: `high`, `CAT I`, `cat 2`, `III`. Throws a 400 for another word. */
export function severitiesOf(text: string | undefined): Set<'high' | 'medium' | 'low'> | undefined {
  if (text === undefined) return undefined;
  const names = {
    high: /^(?:high|(?:cat(?:egory)?\s*)?(?:i|1))$/i,
    medium: /^(?:medium|(?:cat(?:egory)?\s*)?(?:ii|2))$/i,
    low: /^(?:low|(?:cat(?:egory)?\s*)?(?:iii|3))$/i,
  };
  const found = text.split(',').map((each) => {
    const name = (['high', 'medium', 'low'] as const).find((key) => names[key].test(each.trim()));
    if (name === undefined) throw new AppError('BAD_REQUEST', 'severity must be high, medium or low');
    return name;
  });
  return new Set(found);
}

/** The STIG that a name means, and the release that it names. Throws `Missing`. */
export function stigOf(
  {
    stigNames,
    stigs,
  }: { stigNames: Pick<StigNameIndex, 'exactly' | 'said'>; stigs: Pick<StigService, 'release'> },
  text: string,
  version?: string,
): { slug: string; newest: string; version: string } {
  const cited = readCitation(text);
  const name = cited?.name ?? text;
  const [, bare, atEnd] = /^(.+)\s(\d{1,4}\.\d{1,4})$/.exec(name.trim()) ?? [];
  const looked = (each: string) => {
    const exact = stigNames.exactly(each);
    return exact.length > 0 ? exact : stigNames.said(each);
  };
  const whole = looked(name);
  const isSplit = whole.length === 0 && bare !== undefined;
  const found = isSplit ? looked(bare) : whole;
  if (found.length === 0) throw new Missing('unknown_id', `No STIG in this catalog is called ${cut(name)}`);
  if (found.length > 1)
    throw new Missing('ambiguous', 'Several STIGs have this name. Call again with one of these slugs', {
      candidates: found.slice(0, mostCandidates).map(({ slug, title }) => ({ slug, title })),
    });
  const { slug, version: newest, release } = found[0]!;
  const own = isSplit ? atEnd : (cited?.version ?? release ?? undefined);
  const wanted = releaseOf(version) ?? releaseOf(own);
  if (wanted !== undefined && wanted !== newest)
    try {
      stigs.release(slug, wanted);
    } catch {
      const advice = `${cut(wanted)} of ${slug} is not in this catalog. The newest release here is ${newest}`;
      throw new Missing('not_imported', advice, { slug, newest });
    }
  return { slug, newest, version: wanted ?? newest };
}

/** A control or CCI: framework, identifier and revision of a citation or of an id in any spelling. Throws `Missing`. */
export function controlOf(text: string, framework?: string, version?: string) {
  const cited = readCitation(text);
  if (cited?.id)
    return { framework: frameworkKey(cited.name), id: cited.id, version: version ?? cited.version, part: '' };
  const [, prefix, rest] = /^([^:]+):(.+)$/.exec(text.trim()) ?? [];
  const named = framework ?? prefix;
  const id = (rest ?? text).trim().replace(/^([a-z]{2})[\s_]*-?[\s_]*(\d{1,3})/i, '$1-$2');
  const known = idsOf(id);
  if (known?.length === 1) {
    const { kind, framework: own, id: published, part } = known[0]!;
    if (kind === 'cci') return { framework: 'cci', id: published, version, part };
    if (kind === 'control' && (named === undefined || frameworkKey(named) === own))
      return { framework: own!, id: published, version, part };
  }
  if (named === undefined)
    throw new Missing(
      'unknown_id',
      `${cut(text)} is no id of a control or CCI. Name its framework, or use find`,
    );
  return { framework: frameworkKey(named), id, version, part: '' };
}

/** The id of a rule in its usual form: `V 257777`, `sv257777r1` and `257777` as well. */
export function ruleIdOf(text: string): string {
  return text
    .trim()
    .replace(/^(s?v)[\s_-]?(?=\d)/i, '$1-')
    .replace(/^(?=\d{4,}$)/, 'V-');
}
