import { notThere } from '../../base/errors.ts';
import { plainRuleId, ruleNumber } from '../../base/rule-ids.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import type { StigNameIndex } from './name-index.ts';
import { type FullRelease, inBody, type StigService } from './queries.ts';

/** What a file says about its STIG and release; only `ruleIds` must be there. */
export interface StatedRelease {
  /** The caller's choice, which always counts. */
  slug?: string | undefined;
  version?: string | undefined;
  /** The STIGs of the checklist into which results are merged: the release of the right one counts, if it is retained. */
  checklist?: { name: string; release: string | null }[] | undefined;
  benchmarkIds: string[];
  /** The title in the file; it counts where no benchmark id is known. */
  title?: string | undefined;
  /** With their revisions, as releases write them (`SV-257777r1_rule`). */
  ruleIds: string[];
  benchmarkDate: string | null;
  release: string | null;
}

export const choices = ['version', 'checklist', 'rule-ids', 'benchmark-date', 'named', 'newest'] as const;

/** The release that a file is about, and the releases to compare it with. */
export interface IdentifiedRelease {
  target: FullRelease;
  /** The names of STIGs in the given checklist that are names of this one. */
  names: string[];
  chosenBy: (typeof choices)[number];
  /** What identified the STIG: the first of these that is known. */
  foundBy: 'slug' | 'benchmarkId' | 'title' | 'rules';
  /** The title of another STIG that the file's title names; null for none. */
  otherTitle: string | null;
  /** The titles of other STIGs that fit the file equally well. */
  equals?: string[];
  /** The retained release that shares most rule ids with the file; null for none. */
  closest: string | null;
  versions: string[];
  current: FullRelease;
  /** Releases with rules of the file that the target lacks, the closest first. */
  others: FullRelease[];
}

/** No tool writes a file about more releases. */
const mostOthers = 3;

/** `equals` are the slugs of other STIGs with as many rules of the file. */
type FoundStig = Pick<IdentifiedRelease, 'foundBy'> & { slug: string; equals: string[] };

/** A retained release, and the rule ids that it shares with the file. */
interface SharedRelease {
  version: string;
  date: string | null;
  ids: Set<string>;
}

/** Makes the function that finds the release of a file (rule D29.3); null for none. Throws NOT_FOUND. */
export function createIdentify(db: Database, stigs: StigService, stigNames: StigNameIndex) {
  const stigOf = createStigFinder(db, stigNames);
  const sharedReleases = createSharedReleases(db);

  return (stated: StatedRelease): IdentifiedRelease | null => {
    const stig = stigOf(stated);
    if (stig === null) return null;
    const current = stigs.ofBody(stig.slug);
    const { slug } = current.release;
    const releases = sharedReleases(slug, stated.ruleIds);
    const { checklist = [], title = '' } = stated;
    const named = checklist.map(({ name }) => name);
    const names = stigNames.namesOf(slug, named);
    const own = checklist.find(({ name }) => names.includes(name));
    const preferred = own ?? (checklist.length === 1 ? checklist[0]! : null);
    const [chosen, chosenBy] = choose(stated, releases, preferred?.release ?? null);
    const [best] = byShared(releases);
    const isBest = chosen.ids.size === best!.ids.size;
    const [titled, ...others] = stigNames.exactly(title);
    const release = ({ version }: SharedRelease) =>
      version === current.release.version ? current : stigs.full(slug, version);
    return {
      target: release(chosen),
      names,
      chosenBy,
      foundBy: stig.foundBy,
      equals: stig.equals.map((each) => stigNames.ofSlug(each)?.title ?? each),
      otherTitle: titled && others.length === 0 && titled.slug !== slug ? titled.title : null,
      closest: best!.ids.size === 0 ? null : isBest ? chosen.version : best!.version,
      versions: releases.map(({ version }) => version),
      current,
      others: releasesBeside(chosen, releases).map(release),
    };
  };
}

/** By benchmark id, then by title; where several STIGs have it, by most rules; else a STIG with more than half of them. */
function createStigFinder({ sqlite }: Database, stigNames: StigNameIndex) {
  // For each STIG, the most rules that one of its releases shares with a file, in any revision.
  const sharedRules = sqlite.prepare<[string], { slug: string; rules: number }>(
    `SELECT slug, max(rules) AS rules
       FROM (SELECT s.slug, count(*) AS rules
               FROM rule_ids AS i JOIN stig_releases AS r ON r.id = i.release_id JOIN stigs AS s ON s.id = r.stig_id
              WHERE i.id IN (SELECT value FROM json_each(?)) GROUP BY r.id)
      GROUP BY slug ORDER BY rules DESC, slug`,
  );

  return ({ slug, benchmarkIds, title = '', ruleIds }: StatedRelease): FoundStig | null => {
    if (slug !== undefined) return { slug, foundBy: 'slug', equals: [] };
    const byId = stigNames.ofBenchmarks(benchmarkIds);
    const named = (byId.length > 0 ? byId : stigNames.exactly(title)).map((each) => each.slug);
    const foundBy = byId.length > 0 ? 'benchmarkId' : 'title';
    if (named.length === 1) return { slug: named[0]!, foundBy, equals: [] };
    const ids = [...new Set(ruleIds.map((id) => ruleNumber(id).toUpperCase()))];
    const shared = sharedRules
      .all(JSON.stringify(ids))
      .filter((each) => named.length === 0 || named.includes(each.slug));
    const [best] = shared;
    const slugs = best ? shared.filter(({ rules }) => rules === best.rules).map(({ slug }) => slug) : named;
    const found = { slug: slugs[0]!, equals: slugs.slice(1) };
    if (named.length > 1) return { ...found, foundBy };
    return best && best.rules * 2 > ids.length ? { ...found, foundBy: 'rules' } : null;
  };
}

/** Makes the function that gives the retained releases with the rule ids that they share with a file, the newest first. */
function createSharedReleases({ sqlite }: Database) {
  const releasesOf = sqlite.prepare<[string, string], { version: string; date: string | null; ids: string }>(
    `SELECT r.version, r.benchmark_date AS date,
            (SELECT json_group_array(f.plain)
               FROM (SELECT replace(upper(trim(rule_id)), '_RULE', '') AS plain FROM findings WHERE release_id = r.id) AS f
              WHERE f.plain IN (SELECT value FROM json_each(?))) AS ids
       FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
      WHERE s.slug = ? ORDER BY r.release_order DESC`,
  );
  return (slug: string, ruleIds: string[]): SharedRelease[] =>
    releasesOf
      .all(JSON.stringify(ruleIds.map(plainRuleId)), slug)
      .map(({ ids, ...release }) => ({ ...release, ids: new Set(JSON.parse(ids)) }));
}

const byShared = (releases: SharedRelease[]) => releases.toSorted((a, b) => b.ids.size - a.ids.size);

/** The release of a file, and why; `preferred` is that of the checklist. Throws NOT_FOUND. */
function choose(
  stated: StatedRelease,
  releases: SharedRelease[],
  preferred: string | null,
): [SharedRelease, IdentifiedRelease['chosenBy']] {
  const withVersion = (version: string | null | undefined) =>
    releases.find((each) => each.version === version?.toUpperCase());
  const asked = withVersion(stated.version);
  if (asked) return [asked, 'version'];
  if (stated.version !== undefined)
    throw notThere(inBody.version, `Version not found: ${cut(stated.version)}`);
  const ofChecklist = withVersion(preferred);
  if (ofChecklist) return [ofChecklist, 'checklist'];
  const most = Math.max(...releases.map(({ ids }) => ids.size));
  const best = releases.filter(({ ids }) => ids.size === most);
  if (best.length === 1) return [best[0]!, 'rule-ids'];
  const dated = best.filter(({ date }) => date !== null && date === stated.benchmarkDate);
  if (dated.length === 1) return [dated[0]!, 'benchmark-date'];
  const among = dated.length > 0 ? dated : best;
  const named = among.find(({ version }) => version === stated.release);
  return named ? [named, 'named'] : [among[0]!, 'newest'];
}

/** The releases with rules of a file that the target lacks, the closest first. */
function releasesBeside(target: SharedRelease, releases: SharedRelease[]): SharedRelease[] {
  const found = new Set(target.ids);
  return byShared(releases)
    .filter(({ ids }) => {
      const isNew = [...ids].some((id) => !found.has(id));
      for (const id of ids) found.add(id);
      return isNew;
    })
    .slice(0, mostOthers);
}
