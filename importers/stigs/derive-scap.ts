import { compareCodePoints } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { excerpt } from '../read/source-text.ts';
import { compareScapVersions } from './scap.ts';

/** A content as one source states it. */
interface StatedContent {
  sourceId: number;
  ordinal: number;
  benchmarkId: string;
  publisher: string;
  version: string;
  date: string;
  sha256: string;
  source: string;
  rules: string;
}

/** What became of a source of SCAP content: a reason if none of its contents counts. */
export interface ScapOutcome {
  sourceId: number;
  reason: string | null;
  warnings: string[];
}

/**
 * Decides which SCAP contents count and to which STIG each belongs (rules D38.1, D38.2), as a function of the sources
 * alone, in the run's transaction. Gives the outcome of each source.
 */
export function deriveScap(db: Database): ScapOutcome[] {
  const { sqlite } = db;
  const contents = readContents(db);
  const outcomes = new Map<number, ScapOutcome & { counts: number }>();
  for (const { sourceId } of contents)
    outcomes.set(sourceId, { sourceId, reason: null, warnings: [], counts: 0 });
  sqlite.exec('DELETE FROM scap_contents');
  const insert = sqlite.prepare('INSERT INTO scap_contents VALUES (?, ?, ?)');
  const stigOf = createStigOf(db);
  for (const editions of Map.groupBy(contents, (each) => `${each.publisher} ${each.benchmarkId}`).values()) {
    const [newest, ...others] = editions.sort(newestFirst);
    const { sourceId, ordinal, rules } = newest!;
    const stig = stigOf((JSON.parse(rules) as [string, string][]).map(([, groupId]) => groupId));
    insert.run(sourceId, ordinal, stig);
    const outcome = outcomes.get(sourceId)!;
    outcome.counts++;
    if (stig === null)
      outcome.warnings.push(
        `${nameOf(newest!)} belongs to no STIG of the catalog: none has half of its rules. It counts once its STIG is ` +
          'imported',
      );
    for (const other of others)
      outcomes
        .get(other.sourceId)!
        .warnings.push(
          `${nameOf(other)} is superseded: ${excerpt(newest!.source, 300)} has ${versionOf(newest!)}`,
        );
  }
  return [...outcomes.values()].map(({ counts, warnings, sourceId }) =>
    counts === 0
      ? { sourceId, reason: warnings.join('; '), warnings: [] }
      : { sourceId, reason: null, warnings },
  );
}

function readContents({ sqlite }: Database): StatedContent[] {
  return sqlite
    .prepare<[], StatedContent>(
      `SELECT f.source_id AS sourceId, f.ordinal, f.benchmark_id AS benchmarkId, f.publisher, f.version,
              coalesce(f.date, '') AS date, s.sha256, s.source, f.rules
         FROM scap_facts AS f JOIN sources AS s ON s.id = f.source_id ORDER BY s.sha256, f.ordinal`,
    )
    .all();
}

/** By version, date and, so that the order of imports never matters, hash. */
function newestFirst(a: StatedContent, b: StatedContent): number {
  return (
    compareScapVersions(b.version, a.version) ||
    compareCodePoints(b.date, a.date) ||
    compareCodePoints(b.sha256, a.sha256)
  );
}

const nameOf = ({ publisher, benchmarkId, version }: StatedContent) =>
  `${publisher}'s ${excerpt(benchmarkId)} ${excerpt(version)}`;

const versionOf = ({ version, date }: StatedContent) =>
  date === '' ? excerpt(version) : `${excerpt(version)} of ${date}`;

interface ServedRelease {
  stigId: number;
  slug: string;
  groups: Set<string>;
}

/** Gives the STIG whose retained releases share most rules with a content, at least half of them; of equals the lower slug. */
function createStigOf({ sqlite }: Database) {
  const candidates = sqlite
    .prepare<[string], number>(
      'SELECT DISTINCT release_id FROM rule_ids WHERE id IN (SELECT upper(value) FROM json_each(?))',
    )
    .pluck();
  const served = sqlite.prepare<[number], { stigId: number; slug: string }>(
    'SELECT s.id AS stigId, s.slug FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id WHERE r.id = ?',
  );
  const groupsOf = sqlite
    .prepare<[number], string>('SELECT group_id FROM findings WHERE release_id = ?')
    .pluck();
  const releases = new Map<number, ServedRelease | null>();

  function release(id: number): ServedRelease | null {
    const known = releases.get(id);
    if (known !== undefined) return known;
    const found = served.get(id);
    const made = found === undefined ? null : { ...found, groups: new Set(groupsOf.all(id)) };
    releases.set(id, made);
    return made;
  }

  return (groupIds: string[]): number | null => {
    const found = candidates.all(JSON.stringify([...new Set(groupIds)])).flatMap((id) => release(id) ?? []);
    const shares = [...Map.groupBy(found, ({ stigId }) => stigId)].map(([stigId, its]) => {
      const shared = groupIds.filter((id) => its.some(({ groups }) => groups.has(id))).length;
      return { stigId, slug: its[0]!.slug, shared };
    });
    const [best] = shares.sort((a, b) => b.shared - a.shared || compareCodePoints(a.slug, b.slug));
    return best !== undefined && best.shared * 2 >= groupIds.length ? best.stigId : null;
  };
}
