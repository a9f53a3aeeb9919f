import { LRUCache } from 'lru-cache';
import { inSlices } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { inOneGeneration } from '../../db/one-generation.ts';
import { lineOf } from './changes-export.ts';
import type { ChangeLine, ChangesSince, StigChanges } from './changes-schema.ts';
import { isRenumbered } from './compare.ts';
import { markedClasses, type RuleMarks, readMarks } from './marks.ts';
import { matchRules } from './match.ts';
import type { FindingRow } from './queries.ts';

export type StigChangesService = ReturnType<typeof createStigChangesService>;

/** A STIG, and the day from which its changes count; with a `version`, the release. */
export interface SincePerStig {
  slug: string;
  since: string;
  version?: string;
  /** The `version` is that to which an entry of a list is pinned. */
  pinned?: boolean;
}

interface ReleasePair {
  slug: string;
  title: string;
  fromId: number | null;
  from: string | null;
  toId: number;
  to: string;
  rules: number;
  pinned: number | null;
}

type RuleHead = Pick<FindingRow, 'groupId' | 'ruleVersion' | 'ruleTitle' | 'severity'>;

const rank = { low: 0, medium: 1, high: 2 };

type RulesOf = (release: number | null) => RuleMarks[];

/** What changed in the catalog, or in some of its STIGs, since a day (rule D26). */
export function createStigChangesService(db: Database) {
  const slugs = db.sqlite.prepare<[], string>('SELECT slug FROM stigs').pluck();
  const marksOf = db.sqlite
    .prepare<[number], string>('SELECT marks FROM rule_marks WHERE release_id = ?')
    .pluck();
  const rulesOf: RulesOf = (release) => (release === null ? [] : readMarks(marksOf.get(release)!));
  const ofEach = createPairWork(db);
  const summaryOf = createSummaries(db, rulesOf);
  const linesOf = createLines(db, rulesOf);
  const everyStig = (since: string) => () => slugs.all().map((slug) => ({ slug, since }));

  async function changesOf(since: string, wanted: () => SincePerStig[]): Promise<ChangesSince> {
    const stigs = await ofEach(wanted, (pair, catalogVersion): StigChanges => {
      const summary = summaryOf(pair, catalogVersion);
      return pair.pinned === null ? summary : { ...summary, pinned: true };
    });
    const sum = (count: (stig: StigChanges) => number) =>
      stigs.reduce((total, stig) => total + count(stig), 0);
    const totals = {
      stigs: stigs.length,
      added: sum(({ added }) => added),
      removed: sum(({ removed }) => removed),
      changed: sum(({ changed }) => changedRules(changed)),
      severityRaised: sum(({ severityRaised }) => severityRaised.length),
    };
    return { since, totals, stigs };
  }

  const linesOfAll = async (wanted: () => SincePerStig[]) => (await ofEach(wanted, linesOf)).flat();

  return {
    ofCatalog: (since: string): Promise<ChangesSince> => changesOf(since, everyStig(since)),
    /** Of some STIGs, each since a day of its own. Calls `wanted` in the transaction that reads their releases. */
    ofStigs: changesOf,
    linesOfCatalog: (since: string): Promise<ChangeLine[]> => linesOfAll(everyStig(since)),
    linesOfStigs: linesOfAll,
  };
}

/** Works on each pair of releases in slices, all in one state of the catalog. */
function createPairWork(db: Database) {
  const pairsOf = db.sqlite.prepare<[string], ReleasePair>(
    `SELECT s.slug, s.title, f.id AS fromId, f.version AS "from", t.id AS toId, t.version AS "to", t.finding_count AS rules,
            w.value ->> 'pinned' AS pinned
       FROM json_each(?) AS w JOIN stigs AS s ON s.slug = w.value ->> 'slug'
       JOIN stig_releases AS t ON t.id = s.current_release_id
       LEFT JOIN stig_releases AS a ON a.stig_id = s.id AND a.version = w.value ->> 'version'
       LEFT JOIN stig_releases AS f ON f.id = coalesce(a.id, (
         SELECT id FROM stig_releases
          WHERE stig_id = s.id AND release_date < w.value ->> 'since' AND release_order < t.release_order
          ORDER BY release_order DESC LIMIT 1))
      WHERE CASE WHEN w.value ->> 'pinned' AND a.id IS NULL THEN 0
                 WHEN w.value ->> 'version' IS NULL THEN t.release_date >= w.value ->> 'since'
                 ELSE t.version <> w.value ->> 'version' AND coalesce(a.release_order, '') < t.release_order END
      ORDER BY s.title_fold, s.title, s.slug`,
  );
  return <T>(
    wanted: () => SincePerStig[],
    work: (pair: ReleasePair, catalogVersion: string) => T,
  ): Promise<T[]> =>
    inOneGeneration(db, async () => {
      const catalogVersion = db.catalogVersion();
      const done: T[] = [];
      const pairs = db.read(() => pairsOf.all(JSON.stringify(wanted())));
      await inSlices(pairs, (pair) => done.push(db.read(() => work(pair, catalogVersion))));
      return done;
    });
}

function createSummaries({ sqlite }: Database, rulesOf: RulesOf) {
  const titleOf = sqlite
    .prepare<[number, number], string>('SELECT rule_title FROM findings WHERE release_id = ? AND ordinal = ?')
    .pluck();
  // More than a catalog has STIGs.
  const known = new LRUCache<string, StigChanges>({ max: 5000 });

  function summarize({ slug, title, fromId, from, toId, to, rules }: ReleasePair): StigChanges {
    const changed = { check: 0, fix: 0, severity: 0, mapping: 0, cosmetic: 0 };
    const severityRaised: StigChanges['severityRaised'] = [];
    const head = { slug, title, from, to };
    if (fromId === null)
      return { ...head, added: rules, removed: 0, renumbered: 0, unchanged: 0, changed, severityRaised };
    const news = rulesOf(toId);
    const { pairs, added, removed } = matchRules(rulesOf(fromId), news);
    let [renumbered, unchanged] = [0, 0];
    for (const { old, new: now } of pairs) {
      const [primary] = markedClasses(old, now);
      if (primary !== undefined) changed[primary]++;
      else if (isRenumbered(old, now)) renumbered++;
      else unchanged++;
      if (rank[now.severity] <= rank[old.severity]) continue;
      const ruleTitle = titleOf.get(toId, news.indexOf(now) + 1)!;
      const { groupId, ruleId } = now;
      severityRaised.push({ groupId, ruleId, title: ruleTitle, from: old.severity, to: now.severity });
    }
    const counts = { added: added.length, removed: removed.length, renumbered, unchanged };
    return { ...head, ...counts, changed, severityRaised };
  }

  return (pair: ReleasePair, catalogVersion: string): StigChanges => {
    const key = `${catalogVersion} ${pair.fromId} ${pair.toId}`;
    const summary = known.get(key) ?? summarize(pair);
    known.set(key, summary);
    return summary;
  };
}

/** Makes the function that gives a line for each changed rule, in the order of the release that has it. */
function createLines({ sqlite }: Database, rulesOf: RulesOf) {
  const headsOf = sqlite.prepare<[number], RuleHead>(
    `SELECT group_id AS groupId, rule_version AS ruleVersion, rule_title AS ruleTitle, severity
       FROM findings WHERE release_id = ? ORDER BY ordinal`,
  );
  const headsByRule = (release: number, rules: RuleMarks[]) => {
    const heads = headsOf.all(release);
    return new Map(rules.map((rule, index) => [rule, heads[index]!]));
  };

  return ({ slug, title, fromId, from, toId, to }: ReleasePair): ChangeLine[] => {
    const line = lineOf({ slug, title, from, to });
    const isAdded = (rule: RuleHead) => line(rule, 'added', null, rule.severity);
    if (fromId === null) return headsOf.all(toId).map(isAdded);
    const [olds, news] = [rulesOf(fromId), rulesOf(toId)];
    const [oldHeads, newHeads] = [headsByRule(fromId, olds), headsByRule(toId, news)];
    const { pairs, added, removed } = matchRules(olds, news);
    return [
      ...added.map((rule) => isAdded(newHeads.get(rule)!)),
      ...removed.map((rule) => line(oldHeads.get(rule)!, 'removed', rule.severity, null)),
      ...pairs.flatMap(({ old, new: now }) => {
        const classes = markedClasses(old, now);
        return classes.length === 0
          ? []
          : line(newHeads.get(now)!, 'changed', old.severity, now.severity, classes);
      }),
    ];
  };
}

/** How many rules changed, each counted once. */
export function changedRules(changed: StigChanges['changed']): number {
  return Object.values(changed).reduce((sum, each) => sum + each, 0);
}
