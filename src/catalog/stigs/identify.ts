import { AppError } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { ruleKey } from '../../db/rule-keys.ts';
import type { StigNames } from './names.ts';
import type { FullRelease, StigService } from './queries.ts';

/** What a file says of the STIG and the release that it is about; only `ruleIds` must be there. */
export interface StatedRelease {
  /** The caller's choice, which always counts. */
  slug?: string | undefined;
  version?: string | undefined;
  /** The STIGs of the checklist which results are merged into: the release of the right one is taken where it is retained. */
  preferred?: { benchmarkId: string; release: string | null }[] | undefined;
  benchmarkIds: string[];
  /** With their revisions, as releases write them (`SV-257777r1_rule`). */
  ruleIds: string[];
  benchmarkDate: string | null;
  /** `V2R7`. */
  release: string | null;
}

export const choices = ['version', 'checklist', 'rule-ids', 'benchmark-date', 'named', 'newest'] as const;

/** The release that a file is about, and what is needed to say where it differs. */
export interface IdentifiedRelease {
  target: FullRelease;
  /** The ids under which the STIG was published. */
  benchmarkIds: string[];
  chosenBy: (typeof choices)[number];
  /** Whether no benchmark id led to the STIG, so that its rules did. */
  isByRules: boolean;
  /** The retained release that shares most rule ids with the file; null for none. */
  closest: string | null;
  /** The retained releases, the newest first. */
  versions: string[];
  /** The current release of the STIG. */
  current: FullRelease;
  /** Releases that have rules of the file which the target lacks, the closest first. */
  others: FullRelease[];
}

/** No file that one tool writes is about more releases. */
const mostOthers = 3;

const plain = (ruleId: string) =>
  ruleId
    .trim()
    .replace(/_rule$/i, '')
    .toUpperCase();

/** Makes what finds the STIG and the release that a checklist, or the results of a scan, is about (rule D29.3). */
export function createIdentify(db: Database, stigs: StigService, names: StigNames) {
  const { sqlite } = db;
  const releasesOf = sqlite.prepare<[string], { id: number; version: string; date: string | null }>(
    `SELECT r.id, r.version, r.benchmark_date AS date FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
      WHERE s.slug = ? ORDER BY r.release_order DESC`,
  );
  const rulesOf = sqlite
    .prepare<[number], string>('SELECT rule_id FROM findings WHERE release_id = ?')
    .pluck();
  const evidence = sqlite.prepare<[], { slug: string; rules: Buffer }>(
    `SELECT s.slug, e.rules FROM stig_evidence AS e JOIN stig_releases AS r ON r.id = e.release_id
       JOIN stigs AS s ON s.id = r.stig_id ORDER BY s.slug`,
  );

  /** For each STIG the most rules that one of its releases shares with some, whatever their revisions. */
  function sharedRules(ruleIds: string[]): Map<string, number> {
    const keys = new Set(ruleIds.map(ruleKey));
    const most = new Map<string, number>();
    for (const { slug, rules } of evidence.all()) {
      const own = new Float64Array(new Uint8Array(rules).buffer);
      const shared = own.reduce((sum, key) => sum + Number(keys.has(key)), 0);
      if (shared > (most.get(slug) ?? 0)) most.set(slug, shared);
    }
    return most;
  }

  /** The STIG of a file: by benchmark id, where several have it the one with most of its rules; else by at least half of them. */
  function slugOf({
    slug,
    benchmarkIds,
    ruleIds,
  }: StatedRelease): { slug: string; isByRules: boolean } | null {
    if (slug !== undefined) return { slug, isByRules: false };
    const named = names.named(benchmarkIds).map((each) => each.slug);
    if (named.length === 1) return { slug: named[0]!, isByRules: false };
    const shared = [...sharedRules(ruleIds)].filter(([each]) => named.length === 0 || named.includes(each));
    const [best] = shared.sort((a, b) => b[1] - a[1]);
    if (named.length > 1) return { slug: best?.[0] ?? named[0]!, isByRules: false };
    return best && best[1] * 2 >= new Set(ruleIds.map(ruleKey)).size
      ? { slug: best[0], isByRules: true }
      : null;
  }

  /** The ids of the rules of each retained release, the newest release first. */
  function retainedRules(slug: string) {
    return releasesOf.all(slug).map(({ id, version, date }) => {
      const ids = rulesOf.all(id).map(plain);
      return { version, date, ids: new Set(ids) };
    });
  }

  /**
   * The release that a file is about, or null where it is about no STIG of the catalog. Throws a 404 for a slug or a
   * version of the caller's that is not there.
   */
  return function identify(stated: StatedRelease): IdentifiedRelease | null {
    return db.read(() => {
      const found = slugOf(stated);
      if (found === null) return null;
      const current = stigs.full(found.slug);
      const { slug } = current.release;
      const wanted = [...new Set(stated.ruleIds.map(plain))];
      const releases = retainedRules(slug).map((each) => ({
        ...each,
        shared: wanted.filter((id) => each.ids.has(id)).length,
      }));
      const is = (version: string) => releases.find((each) => each.version === version.toUpperCase());
      const most = Math.max(...releases.map((each) => each.shared));
      const best = releases.filter((each) => each.shared === most);
      const dated = best.filter((each) => each.date !== null && each.date === stated.benchmarkDate);
      const among = dated.length > 0 ? dated : best;
      const named = among.find((each) => each.version === stated.release);
      const benchmarkIds = names.benchmarkIds(slug);
      const preferred = preferredOf(stated.preferred ?? [], benchmarkIds);

      function choose(): [string, IdentifiedRelease['chosenBy']] {
        if (stated.version !== undefined) {
          const asked = is(stated.version);
          if (!asked) throw new AppError('NOT_FOUND', `Version not found: ${cut(stated.version)}`);
          return [asked.version, 'version'];
        }
        const kept = preferred === null ? undefined : is(preferred);
        if (kept) return [kept.version, 'checklist'];
        if (best.length === 1) return [best[0]!.version, 'rule-ids'];
        if (dated.length === 1) return [dated[0]!.version, 'benchmark-date'];
        return named ? [named.version, 'named'] : [among[0]!.version, 'newest'];
      }

      const [version, chosenBy] = choose();
      const target = releases.find((each) => each.version === version)!;
      const lacking = new Set(wanted.filter((id) => !target.ids.has(id)));
      const others: FullRelease[] = [];
      for (const each of releases.toSorted((a, b) => b.shared - a.shared)) {
        const news = each === target ? [] : [...lacking].filter((id) => each.ids.has(id));
        if (news.length === 0 || others.length === mostOthers) continue;
        for (const id of news) lacking.delete(id);
        others.push(stigs.full(slug, each.version));
      }
      const closest = most === 0 ? null : target.shared === most ? version : best[0]!.version;
      return {
        target: version === current.release.version ? current : stigs.full(slug, version),
        benchmarkIds,
        chosenBy,
        isByRules: found.isByRules,
        closest,
        versions: releases.map((each) => each.version),
        current,
        others,
      };
    });
  };
}

/** The release of the one of some STIGs that has a benchmark id, or is alone. */
function preferredOf(stigs: { benchmarkId: string; release: string | null }[], benchmarkIds: string[]) {
  const ids = new Set(benchmarkIds.map((id) => id.toLowerCase()));
  const own = stigs.find(({ benchmarkId }) => ids.has(benchmarkId.toLowerCase()));
  return (own ?? (stigs.length === 1 ? stigs[0]! : null))?.release ?? null;
}
