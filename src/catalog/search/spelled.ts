import { citation, readCitation } from '../../base/citation.ts';
import { badRequest } from '../../base/errors.ts';
import { cut, strip } from '../../base/text.ts';
import { frameworkKey } from '../controls/frameworks.ts';
import { type FoundId, type IdKind, idsIn } from '../controls/id-grammar.ts';
import type { RuleHistoryService } from '../stigs/history.ts';
import type { RuleOverTime } from '../stigs/history-schema.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { StigService } from '../stigs/queries.ts';
import { Severity } from '../stigs/schema.ts';
import type { SearchResult } from './schema.ts';

// Names and ids as people write them.

/** What is not there: never an empty success (rule D41.4). */
type Reason = 'unknown_id' | 'not_imported' | 'removed' | 'ambiguous' | 'no_match';

/** Ends a question with what is not there. */
export class Missing extends Error {
  readonly answer: { found: false; reason: Reason; advice: string };
  constructor(reason: Reason, advice: string, more: Record<string, unknown> = {}) {
    super(advice);
    this.answer = { found: false, reason, advice, ...more };
  }
}

const mostCandidates = 8;
const mostReleases = 100;

/** A text as a keyboard types it, without the end of a sentence. */
const typed = (text: string) =>
  strip(text.normalize('NFKC').replace(/[\u2010-\u2015\u2212]/g, '-'), null, /[\s.,;:]/).trim();

/** The only id of some kinds in a text (`rule V-257777,`); null where there is none, or more than one. */
function onlyId(text: string, ...kinds: IdKind[]): FoundId | null {
  const [found, ...others] = idsIn(text).filter(({ kind }) => kinds.includes(kind));
  return found !== undefined && others.length === 0 ? found : null;
}

const isNewest = (text = '') => /^(?:|latest|newest|current)$/i.test(text.trim());

/** A release as people write it: `V2R8`, `v2 r8`, `2.8`, `Version 2, Release: 8`; undefined for the newest. */
export function releaseOf(text: string | undefined): string | undefined {
  if (text === undefined || isNewest(text)) return undefined;
  const [, version, release] =
    /^(?:v(?:er(?:sion)?)?[\s._:-]*)?(\d{1,4})(?:[\s,._-]*r(?:el(?:ease)?)?[\s:._-]*|\.)(\d{1,4}(?:\.\d{1,4})*)(?:[\s,].*)?$/i.exec(
      text.trim(),
    ) ?? [];
  return version === undefined
    ? text.trim().toUpperCase()
    : `V${Number(version)}R${release!.replace(/^0+(?=\d)/, '')}`;
}

/** A revision of a framework, as it is written; undefined for the newest. */
export const revisionOf = (text: string | undefined): string | undefined =>
  isNewest(text) ? undefined : text;

const shortFrameworks = new Map([
  ['80053', 'nist-800-53'],
  ['800171', 'nist-800-171'],
  ['8500', 'dod-8500'],
  ['85002', 'dod-8500'],
  ['ccis', 'cci'],
]);

/** The key of a framework from a usual name (`NIST SP 800-53`, `8500.2`); other text unchanged, as a site's own key. */
export function frameworkOf(text: string): string {
  const short = text
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/^(?:nist|dodi?)?(?:sp)?/, '');
  return shortFrameworks.get(short) ?? frameworkKey(text);
}

/** Severities: `high`, `CAT I`, `cat 2`, `III`. Throws a 400 for another word. */
export function severitiesOf(text: string | undefined): Set<SearchResult['severity']> | undefined {
  if (text === undefined) return undefined;
  const found = text.split(',').map((each) => {
    const category = each.trim().replace(/^cat(?:egory)?\s*(?=[i\d])/i, '');
    return Severity.options.find((name, at) =>
      [name, 'i'.repeat(at + 1), `${at + 1}`].includes(category.toLowerCase()),
    );
  });
  if (found.includes(undefined)) throw badRequest('severity must be high, medium or low');
  return new Set(found as SearchResult['severity'][]);
}

/** The STIG that a name means, and the release that it names. Throws `Missing`. */
export function stigOf(
  { stigNames, stigs }: { stigNames: StigNameIndex; stigs: StigService },
  text: string,
  version?: string,
): { slug: string; newest: string; version: string } {
  const cited = readCitation(text);
  const name = cited?.name ?? text;
  const [, bare, atEnd] = /^(.+)\s(v?\d{1,4}\.\d{1,4})$/i.exec(name.trim()) ?? [];
  const looked = (each: string) => {
    const exact = stigNames.exactly(each);
    return exact.length > 0 ? exact : stigNames.stigsNamedIn(each);
  };
  const whole = looked(name);
  const isSplit = whole.length === 0 && bare !== undefined;
  const found = isSplit ? looked(bare) : whole;
  if (found.length === 0) throw new Missing('unknown_id', `No STIG in this catalog is called ${cut(name)}`);
  if (found.length > 1)
    throw new Missing('ambiguous', 'Several STIGs have this name. Call again with one of these citations', {
      candidates: found.slice(0, mostCandidates).map(({ slug, title, version: newest }) => {
        return { cite: citation(slug, newest), slug, title: cut(title, 200) };
      }),
    });
  const { slug, version: newest, release } = found[0]!;
  const own = isSplit ? atEnd : (cited?.version ?? release ?? undefined);
  const requested = releaseOf(version) ?? releaseOf(own);
  if (requested !== undefined && requested !== newest && stigs.findRelease(slug, requested) === null)
    throw new Missing(
      'not_imported',
      `${cut(requested)} of ${slug} is not in this catalog. The newest release here is ${newest}`,
      { slug, newest, retained: stigs.retained(slug).slice(0, mostReleases) },
    );
  return { slug, newest, version: requested ?? newest };
}

/** A control or CCI: framework, identifier and revision of a citation or of an id in any spelling. Throws `Missing`. */
export function controlOf(given: string, framework?: string, version?: string) {
  const text = typed(given);
  const requested = revisionOf(version);
  const cited = readCitation(text);
  if (onlyId(cited?.id ?? text, 'rule', 'group') !== null)
    throw new Missing('unknown_id', 'This is a rule', {
      next: { tool: 'get_rule', arguments: { id: given } },
    });
  if (cited?.id) {
    const { name, id, version: own } = cited;
    return { framework: frameworkOf(name), id, version: requested ?? own, part: '' };
  }
  const [, prefix, rest] = /^([^:]+):(.+)$/.exec(text) ?? [];
  const isFramework = prefix !== undefined && onlyId(prefix, 'control', 'cci') === null;
  const named = framework ?? (isFramework ? prefix : undefined);
  const id = isFramework ? rest!.trim() : text;
  const known =
    onlyId(id, 'control', 'cci') ??
    onlyId(id.replace(/^([a-z]{2,4})[\s_]*(?:-[\s_]*)?(?=\d)/i, '$1-'), 'control', 'cci');
  if (known !== null) {
    const { framework: own, id: published, part } = { ...known, framework: known.framework ?? 'cci' };
    if (own === 'cci' || named === undefined || frameworkOf(named) === own)
      return { framework: own, id: published, version: requested, part };
  }
  if (named === undefined)
    throw new Missing(
      'unknown_id',
      `${cut(text)} is no id of a control or CCI. Name its framework, or use find`,
    );
  return { framework: frameworkOf(named), id, version: requested, part: '' };
}

/** Whether a text is the id of a control or CCI. */
export const isControlId = (text: string): boolean => onlyId(typed(text), 'control', 'cci') !== null;

/** The ways to read the id of a rule: as it is, `V 257777`, `257777`, `rule V-257777`, `RHEL 09 211010`. */
function ruleIdsOf(given: string): Set<string> {
  const text = typed(given)
    .replace(/^(s?v)[\s_-]?(?=\d)/i, '$1-')
    .replace(/^(?=\d{4,}$)/, 'V-');
  const hyphened = text.replace(/[\s_]+/g, '-');
  const only = onlyId(text, 'rule') ?? onlyId(text, 'group') ?? onlyId(text, 'stigId') ?? onlyId(text, 'srg');
  return new Set([given.trim(), hyphened, only?.id ?? hyphened]);
}

/** The last release that has a rule. */
export const lastOf = ({ releases }: RuleOverTime): string =>
  releases.find(({ state }) => state !== 'removed')!.version;

/** The rules with an id, in a STIG or in all, each with its last release: those of newest releases, else the former. */
function rulesWith(history: RuleHistoryService, id: string, slug: string | undefined) {
  const now = history.current(id, slug).map((each) => ({ ...each, current: true }));
  const ever = () => history.find(id, slug).map((each) => ({ ...each, version: lastOf(each) }));
  const all = now.length > 0 ? now : ever();
  const own = all.filter((each) => each.groupId === id.toUpperCase());
  const found = own.length > 0 ? own : all;
  const current = found.filter((each) => each.current);
  return (current.length > 0 ? current : found).map((each) => ({ ...each, asked: id }));
}

/**
 * The one rule that an id in any spelling names in a STIG, or in all, with its last release, and `asked`, the spelling
 * that it has. Throws `Missing` for none and for several.
 */
export function ruleOf(history: RuleHistoryService, given: string, slug: string | undefined) {
  for (const id of ruleIdsOf(given)) {
    const rules = rulesWith(history, id, slug);
    const [first] = rules;
    if (first === undefined) continue;
    if (rules.length === 1 || (!first.current && rules.every((each) => each.slug === first.slug)))
      return first;
    const candidates = rules.slice(0, mostCandidates).map(({ slug, version, ruleId, ruleTitle }) => {
      return { cite: citation(slug, version, ruleId), ruleTitle: cut(ruleTitle, 200) };
    });
    const advice = 'Several rules have this id. Call again with one of these citations as id';
    throw new Missing('ambiguous', advice, { candidates });
  }
  const next = { tool: 'get_control', arguments: { id: given } };
  const advice = `No STIG in this catalog has the rule ${cut(given)}`;
  throw new Missing('unknown_id', advice, isControlId(given) ? { next } : {});
}
