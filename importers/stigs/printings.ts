import { ruleName } from '../../src/base/rule-ids.ts';
import { idsOf, type RuleIds } from '../../src/catalog/stigs/ids.ts';
import type { Database } from '../../src/db/database.ts';

/** One stored file of a release, with what decides its STIG (rule D24). */
export interface Printing {
  id: number;
  sourceId: number;
  sha256: string;
  /** The present STIG, the printing that is served in its place, and the slug in the ledger; null for a new one. */
  stigId: number | null;
  supersededBy: number | null;
  target: string | null;
  /** The folded benchmark id (`aliasKey`), with the kind. */
  idKey: string;
  benchmarkId: string;
  title: string;
  version: string;
  releaseOrder: string;
  releaseDate: string | null;
  /** Sorted hashes of its STIG ids. */
  stigIds: Uint32Array;
  /** Few comparisons need the rules: they are read on demand. */
  rules(): PrintedRules;
}

/** The identifiers of the rules of a printing. */
interface PrintedRules {
  /** Rule ids by SV-number, in document order. */
  byNumber: Map<string, string>;
  /** STIG id, V- and SV-number of each rule, former ones included. */
  identifiers: string[][];
  /** All of these. */
  all: Set<string>;
  /** SV-numbers by STIG id, former ones included. */
  numbers: Map<string, number[]>;
}

/** Reads all stored printings. */
export function readPrintings({ sqlite }: Database): Printing[] {
  const findings = sqlite.prepare<[number], Omit<RuleIds, 'legacyIds'> & { legacy: string }>(
    `SELECT rule_id AS ruleId, group_id AS groupId, rule_version AS ruleVersion, legacy_ids AS legacy
       FROM findings WHERE release_id = ? ORDER BY ordinal`,
  );
  const rows = sqlite
    .prepare<[], Omit<Printing, 'stigIds' | 'rules'> & { hashes: Buffer }>(
      `SELECT p.id, p.source_id AS sourceId, p.stig_id AS stigId, p.superseded_by AS supersededBy, s.target, s.sha256,
              p.id_key AS idKey, p.benchmark_id AS benchmarkId, p.title, p.version, p.release_order AS releaseOrder,
              p.release_date AS releaseDate, e.stig_ids AS hashes
         FROM stig_printings AS p JOIN sources AS s ON s.id = p.source_id JOIN stig_evidence AS e ON e.release_id = p.id`,
    )
    .all();
  return rows.map(({ hashes, ...row }) => {
    let known: PrintedRules | null = null;
    const readRules = () =>
      rulesOf(
        findings.all(row.id).map((rule) => ({ ...rule, legacyIds: JSON.parse(rule.legacy) as string[] })),
      );
    return {
      ...row,
      // A buffer of its own, for alignment.
      stigIds: new Uint32Array(new Uint8Array(hashes).buffer),
      rules: () => (known ??= readRules()),
    };
  });
}

function rulesOf(findings: RuleIds[]): PrintedRules {
  const identifiers = findings.map(idsOf);
  const numbers = new Map<string, number[]>();
  for (const { ruleId, ruleVersion, legacyIds } of findings) {
    if (ruleVersion === '') continue;
    const own = numbers.get(ruleVersion) ?? [];
    for (const id of [ruleId, ...legacyIds]) {
      const number = /^SV-(\d{1,9})(?!\d)/.exec(id)?.[1];
      if (number !== undefined) own.push(Number(number));
    }
    numbers.set(ruleVersion, own);
  }
  return {
    byNumber: new Map(findings.map(({ ruleId }) => [ruleName(ruleId), ruleId])),
    identifiers,
    all: new Set(identifiers.flat()),
    numbers,
  };
}

/** Sorted hashes of the STIG ids of a release, each once. */
export function stigIdHashes(findings: Pick<RuleIds, 'ruleVersion'>[]): Uint32Array {
  const named = findings.map(({ ruleVersion }) => ruleVersion).filter((id) => id !== '');
  return new Uint32Array(new Set(named.map(hashOf))).sort();
}

/** FNV-1a, 32 bits. A collision decides nothing: it is one of hundreds of hashes. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Orders releases of any STIGs: by date, version, size and id, the newer and larger first; at last by hash. */
export function newestReleaseFirst(a: Printing, b: Printing): number {
  return (
    compare(b.releaseDate ?? '', a.releaseDate ?? '') ||
    compare(orderOf(b), orderOf(a)) ||
    b.stigIds.length - a.stigIds.length ||
    compare(a.idKey, b.idKey) ||
    compare(b.sha256, a.sha256)
  );
}

/** Orders printings of one version: the newer by date, then the larger, then the greater hash. */
export function newestPrintingFirst(a: Printing, b: Printing): number {
  return compare(orderOf(b), orderOf(a)) || sizeOf(b) - sizeOf(a) || compare(b.sha256, a.sha256);
}

/** Orders printings of one version: the larger first. */
export function largestFirst(a: Printing, b: Printing): number {
  return sizeOf(b) - sizeOf(a) || newestPrintingFirst(a, b);
}

/** The release order (version and dates) without the hash of the file. */
export function orderOf({ releaseOrder }: Printing): string {
  return releaseOrder.slice(0, releaseOrder.lastIndexOf(' '));
}

/** The number of rules. */
export const sizeOf = (printing: Printing): number => printing.rules().byNumber.size;

/** Compares ASCII: versions, dates and hashes. */
export function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
