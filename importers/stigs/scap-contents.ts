import { compareCodePoints } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { SourceProblem } from '../../src/read/import-error.ts';
import type { StagedFacts } from '../read/parsed.ts';
import { excerpt } from '../read/source-text.ts';
import type { ScapContent } from './xccdf-record.ts';

/** Stores the SCAP content of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageScap(db: Database, sourceId: number, contents: ScapContent[]): StagedFacts {
  const insert = prepareInsert(db, 'scap_facts');
  for (const [index, { rules, ...content }] of contents.entries()) {
    const stated = rules.map(({ ruleId, groupId, automated }) => [ruleId, groupId, automated ? 1 : 0]);
    insert({ sourceId, ordinal: index + 1, ...content, rules: stated });
  }
  const rules = contents.flatMap((content) => content.rules);
  const automated = rules.filter((rule) => rule.automated).length;
  return {
    target: contents.map(({ benchmarkId }) => benchmarkId).join(', '),
    counts: { rules: rules.length, automated, manual: rules.length - automated },
  };
}

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
  /** JSON of the group ids of its rules. */
  groups: string;
}

/**
 * The STIG whose retained releases share most rules with a content, given as JSON of group ids, at least half of them; of
 * equals the lower slug.
 */
const stigSql = `
  SELECT s.id FROM json_each(:groups) AS j
    CROSS JOIN rule_ids AS i ON i.id = upper(j.value)
    CROSS JOIN stig_releases AS r ON r.id = i.release_id
    CROSS JOIN findings AS f ON f.release_id = r.id AND f.group_id = j.value
    JOIN stigs AS s ON s.id = r.stig_id
   GROUP BY s.id HAVING 2 * count(DISTINCT j.key) >= json_array_length(:groups)
   ORDER BY count(DISTINCT j.key) DESC, s.slug LIMIT 1`;

/** Reasons of sources of which no content counts, and warnings for the others. */
interface ScapOutcomes {
  superseded: Map<number, string>;
  problems: SourceProblem[];
}

/**
 * Decides which SCAP contents count and to which STIG each belongs (rules D38.1, D38.2), as a function of the sources
 * alone, in the run's transaction.
 */
export function deriveScap({ sqlite }: Database): ScapOutcomes {
  const contents = sqlite
    .prepare<[], StatedContent>(
      `SELECT f.source_id AS sourceId, f.ordinal, f.benchmark_id AS benchmarkId, f.publisher, f.version,
              coalesce(f.date, '') AS date, s.sha256, s.source,
              (SELECT json_group_array(value ->> 1) FROM json_each(f.rules)) AS groups
         FROM scap_facts AS f JOIN sources AS s ON s.id = f.source_id ORDER BY s.sha256, f.ordinal`,
    )
    .all();
  const stigOf = sqlite.prepare<{ groups: string }, number>(stigSql).pluck();
  const problems: SourceProblem[] = [];
  const counting = new Set<number>();
  sqlite.exec('DELETE FROM scap_contents');
  const insert = sqlite.prepare('INSERT INTO scap_contents VALUES (?, ?, ?)');
  for (const editions of Map.groupBy(contents, (each) => `${each.publisher} ${each.benchmarkId}`).values()) {
    const [newest, ...others] = editions.sort(newestFirst);
    const { sourceId, ordinal, groups } = newest!;
    const stig = stigOf.get({ groups }) ?? null;
    insert.run(sourceId, ordinal, stig);
    counting.add(sourceId);
    if (stig === null) {
      const message = `${nameOf(newest!)} belongs to no STIG of the catalog: none has half of its rules. It counts once its STIG is imported`;
      problems.push({ sourceId, message });
    }
    const instead = `${excerpt(newest!.source, 300)} has ${versionOf(newest!)}`;
    for (const other of others)
      problems.push({ sourceId: other.sourceId, message: `${nameOf(other)} is superseded: ${instead}` });
  }
  const lost = Map.groupBy(problems, ({ sourceId }) => sourceId);
  for (const id of counting) lost.delete(id);
  const superseded = [...lost].map(([sourceId, own]): [number, string] => [
    sourceId,
    own.map(({ message }) => message).join('; '),
  ]);
  return {
    superseded: new Map(superseded),
    problems: problems.filter(({ sourceId }) => counting.has(sourceId)),
  };
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

/** A version has at most so many characters. */
const longestVersion = 1000;

/** Orders versions number by number: `1.10.5` before `002.007.21`; words stand before numbers. */
export function compareScapVersions(a: string, b: string): number {
  return compareCodePoints(sortKeyOf(a), sortKeyOf(b));
}

const sortKeyOf = (version: string) =>
  version
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? part.padStart(longestVersion, '0') : `!${part}`))
    .join(' ');
