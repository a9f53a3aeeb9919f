import { idsOf, type RuleIds } from '../../src/catalog/stigs/ids.ts';
import type { Database } from '../../src/db/database.ts';
import type { Printing, RuleIdentifiers } from './printing.ts';

/** A stored printing with its present STIG. */
export interface StoredPrinting extends Printing {
  id: number;
  sourceId: number;
  stigId: number | null;
  supersededBy: number | null;
  target: string | null;
}

/** Reads all stored printings; their evidence on demand. */
export function readPrintings({ sqlite }: Database): StoredPrinting[] {
  const evidence = sqlite.prepare<[number], [Buffer, Buffer]>(
    'SELECT rules, numbers FROM stig_evidence WHERE release_id = ?',
  );
  const findings = sqlite.prepare<[number], Omit<RuleIds, 'legacyIds'> & { legacy: string }>(
    `SELECT rule_id AS ruleId, group_id AS groupId, rule_version AS ruleVersion, legacy_ids AS legacy
       FROM findings WHERE release_id = ?`,
  );
  const rows = sqlite
    .prepare<[], Omit<StoredPrinting, 'stigIds' | 'evidence' | 'identifiers'> & { ids: Buffer }>(
      `SELECT p.id, p.source_id AS sourceId, p.stig_id AS stigId, p.superseded_by AS supersededBy, s.target, s.sha256,
              p.id_key AS idKey, p.benchmark_id AS benchmarkId, p.title, p.version, p.release_order AS releaseOrder,
              p.release_date AS releaseDate, e.stig_ids AS ids
         FROM stig_printings AS p JOIN sources AS s ON s.id = p.source_id JOIN stig_evidence AS e ON e.release_id = p.id`,
    )
    .all();
  return rows.map(({ ids, ...row }) => {
    let known: ReturnType<Printing['evidence']> | null = null;
    const read = () => {
      const [rules, numbers] = evidence.raw().get(row.id)!;
      return { rules: new Float64Array(wordsOf(rules)), numbers: new Uint32Array(wordsOf(numbers)) };
    };
    let rules: RuleIdentifiers | null = null;
    const readRules = () =>
      identifiersOf(
        findings.all(row.id).map((rule) => ({ ...rule, legacyIds: JSON.parse(rule.legacy) as string[] })),
      );
    return {
      ...row,
      stigIds: new Uint32Array(wordsOf(ids)),
      evidence: () => (known ??= read()),
      identifiers: () => (rules ??= readRules()),
    };
  });
}

/** The identifiers by which the rules of a release are compared with those of others (rule D24.4). */
export function identifiersOf(findings: RuleIds[]): RuleIdentifiers {
  const rules = findings.map(idsOf);
  return { rules, ids: new Set(rules.flat()) };
}

/** Copies a blob to a buffer of its own, for alignment. */
function wordsOf({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength);
}

/** The stored overrides, slugs by benchmark id. */
export function readOverrides({ sqlite }: Database): Map<string, string> {
  const rows = sqlite
    .prepare<[], [string, string]>('SELECT benchmark_id, slug FROM stig_overrides')
    .raw()
    .all();
  return new Map(rows);
}

/** Stores the rows of an operator's file; an empty slug removes one. Gives whether anything changed. */
export function storeOverrides(db: Database, rows: Map<string, string>): boolean {
  const stored = readOverrides(db);
  const changed = [...rows].filter(([benchmarkId, slug]) => (stored.get(benchmarkId) ?? '') !== slug);
  const remove = db.sqlite.prepare('DELETE FROM stig_overrides WHERE benchmark_id = ?');
  const insert = db.sqlite.prepare('INSERT INTO stig_overrides VALUES (?, ?)');
  for (const [benchmarkId, slug] of changed) {
    remove.run(benchmarkId);
    if (slug !== '') insert.run(benchmarkId, slug);
  }
  return changed.length > 0;
}
