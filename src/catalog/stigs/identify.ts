import { AppError } from '../../base/errors.ts';
import { runInSlices } from '../../base/slices.ts';
import { compareCodePoints, cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { inOneGeneration } from '../../db/one-generation.ts';
import { ruleKey } from '../../db/rule-keys.ts';
import type { StigNameIndex } from './name-index.ts';
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

/** Releases whose evidence is read at once. */
const evidencePart = 100;

/** The STIG of a file, and whether its rules alone led to it. */
type FoundStig = Pick<IdentifiedRelease, 'isByRules'> & { slug: string };

/** A retained release with the ids of its rules that a file has. */
interface SharedRelease {
  version: string;
  date: string | null;
  ids: Set<string>;
}

const plain = (ruleId: string) =>
  ruleId
    .trim()
    .replace(/_rule$/i, '')
    .toUpperCase();

/** Makes what finds the STIG and the release that a checklist, or the results of a scan, is about (rule D29.3). */
export function createIdentify(db: Database, stigs: StigService, stigNames: StigNameIndex) {
  const { sqlite } = db;
  const releasesOf = sqlite.prepare<[string], { id: number; version: string; date: string | null }>(
    `SELECT r.id, r.version, r.benchmark_date AS date FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
      WHERE s.slug = ? ORDER BY r.release_order DESC`,
  );
  const rulesOf = sqlite
    .prepare<[number], string>('SELECT rule_id FROM findings WHERE release_id = ?')
    .pluck();
  const evidence = sqlite.prepare<[number, number], { id: number; slug: string; rules: Buffer }>(
    `SELECT e.release_id AS id, s.slug, e.rules FROM stig_evidence AS e JOIN stig_releases AS r ON r.id = e.release_id
       JOIN stigs AS s ON s.id = r.stig_id WHERE e.release_id > ? ORDER BY e.release_id LIMIT ?`,
  );

  /** What each release of the catalog has as evidence, read in parts. */
  function* everyEvidence() {
    for (let last = 0; ; ) {
      const part = evidence.all(last, evidencePart);
      yield* part;
      if (part.length < evidencePart) return;
      last = part.at(-1)!.id;
    }
  }

  /** For each STIG the most rules that one of its releases shares with some, whatever their revisions. */
  function* sharedRules(keys: Set<number>): Generator<void, Map<string, number>> {
    const most = new Map<string, number>();
    for (const { slug, rules } of everyEvidence()) {
      const own = new Float64Array(new Uint8Array(rules).buffer);
      const shared = own.reduce((sum, key) => sum + Number(keys.has(key)), 0);
      if (shared > (most.get(slug) ?? 0)) most.set(slug, shared);
      yield;
    }
    return most;
  }

  /** The STIG of a file: by benchmark id, where several have it the one with most of its rules; else by at least half of them. */
  function* slugOf({ slug, benchmarkIds, ruleIds }: StatedRelease): Generator<void, FoundStig | null> {
    if (slug !== undefined) return { slug, isByRules: false };
    const named = stigNames.ofBenchmarks(benchmarkIds).map((each) => each.slug);
    if (named.length === 1) return { slug: named[0]!, isByRules: false };
    const keys = new Set<number>();
    for (const id of ruleIds) {
      keys.add(ruleKey(id));
      yield;
    }
    const shared = [...(yield* sharedRules(keys))].filter(
      ([each]) => named.length === 0 || named.includes(each),
    );
    const [best] = shared.sort((a, b) => b[1] - a[1] || compareCodePoints(a[0], b[0]));
    if (named.length > 1) return { slug: best?.[0] ?? named[0]!, isByRules: false };
    return best && best[1] * 2 >= keys.size ? { slug: best[0], isByRules: true } : null;
  }

  /** Of each retained release, the newest first, the ids of its rules that a file has. */
  function* sharedIds(slug: string, ruleIds: string[]): Generator<void, SharedRelease[]> {
    const wanted = new Set<string>();
    for (const id of ruleIds) {
      wanted.add(plain(id));
      yield;
    }
    const releases: SharedRelease[] = [];
    for (const { id, version, date } of releasesOf.all(slug)) {
      const own = rulesOf.all(id).map(plain);
      releases.push({ version, date, ids: new Set(own.filter((each) => wanted.has(each))) });
      yield;
    }
    return releases;
  }

  /** The releases that have rules of a file which the target lacks, the closest first; named, not read. */
  function versionsBeside(target: SharedRelease, releases: SharedRelease[]): string[] {
    const found = new Set(target.ids);
    const others: string[] = [];
    for (const { version, ids } of releases.toSorted((a, b) => b.ids.size - a.ids.size)) {
      const news = [...ids].filter((id) => !found.has(id));
      if (news.length === 0 || others.length === mostOthers) continue;
      for (const id of news) found.add(id);
      others.push(version);
    }
    return others;
  }

  function* lookUp(stated: StatedRelease): Generator<void, IdentifiedRelease | null> {
    const stig = yield* slugOf(stated);
    if (stig === null) return null;
    const current = stigs.full(stig.slug);
    const { slug } = current.release;
    yield;
    const releases = yield* sharedIds(slug, stated.ruleIds);
    const is = (version: string) => releases.find((each) => each.version === version.toUpperCase());
    const most = Math.max(...releases.map(({ ids }) => ids.size));
    const best = releases.filter(({ ids }) => ids.size === most);
    const dated = best.filter((each) => each.date !== null && each.date === stated.benchmarkDate);
    const among = dated.length > 0 ? dated : best;
    const named = among.find((each) => each.version === stated.release);
    const benchmarkIds = [...stigNames.ofSlug(slug)!.benchmarkIds];
    const preferred = preferredOf(stated.preferred ?? [], benchmarkIds);

    function choose(): [SharedRelease, IdentifiedRelease['chosenBy']] {
      if (stated.version !== undefined) {
        const asked = is(stated.version);
        if (!asked) throw new AppError('NOT_FOUND', `Version not found: ${cut(stated.version)}`);
        return [asked, 'version'];
      }
      const kept = preferred === null ? undefined : is(preferred);
      if (kept) return [kept, 'checklist'];
      if (best.length === 1) return [best[0]!, 'rule-ids'];
      if (dated.length === 1) return [dated[0]!, 'benchmark-date'];
      return named ? [named, 'named'] : [among[0]!, 'newest'];
    }

    const [chosen, chosenBy] = choose();
    const { version } = chosen;
    const closest = most === 0 ? null : chosen.ids.size === most ? version : best[0]!.version;
    const read = new Map([[current.release.version, current]]);
    const others = versionsBeside(chosen, releases);
    for (const each of [version, ...others]) {
      if (!read.has(each)) read.set(each, stigs.full(slug, each));
      yield;
    }
    return {
      target: read.get(version)!,
      benchmarkIds,
      chosenBy,
      isByRules: stig.isByRules,
      closest,
      versions: releases.map((each) => each.version),
      current,
      others: others.map((each) => read.get(each)!),
    };
  }

  /**
   * The release that a file is about, or null where it is about no STIG of the catalog; looked up in slices, so that others
   * are served meanwhile. Throws a 404 for a slug or a version of the caller's that is not there.
   */
  return (stated: StatedRelease) => inOneGeneration(db, () => runInSlices(lookUp(stated)));
}

/** The release of the one of some STIGs that has a benchmark id, or is alone. */
function preferredOf(stigs: { benchmarkId: string; release: string | null }[], benchmarkIds: string[]) {
  const ids = new Set(benchmarkIds.map((id) => id.toLowerCase()));
  const own = stigs.find(({ benchmarkId }) => ids.has(benchmarkId.toLowerCase()));
  return (own ?? (stigs.length === 1 ? stigs[0]! : null))?.release ?? null;
}
