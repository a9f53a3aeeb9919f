import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { deriveAll } from '../../importers/derive.ts';
import { discover, listFiles } from '../../importers/discover.ts';
import type { DocumentRecord } from '../../importers/guidance/document-record.ts';
import type { LedgerLine, OpenLine } from '../../importers/ledger-lines.ts';
import { parseSource } from '../../importers/parse.ts';
import { createPhases } from '../../importers/phases.ts';
import { createStaging } from '../../importers/staging.ts';
import type { XccdfRelease } from '../../importers/stigs/xccdf-record.ts';
import { sha256 } from '../../src/base/ids.ts';
import { ruleName } from '../../src/base/rule-ids.ts';
import type { Database } from '../../src/db/database.ts';
import { tableDigests } from '../../src/db/digest.ts';
import { dumpCatalog } from './catalog-dump.ts';
import { emptyCatalog } from './prepared.ts';
import { reference } from './reference.ts';

/** A release that was read once, and what its file is known by. */
interface Read {
  sha256: string;
  release: XccdfRelease;
}

/** Documents of one source that was read once. */
export interface ReadDocuments {
  sha256: string;
  documents: DocumentRecord[];
}

/** The names of the rules decide; without their texts a catalog is made in a fraction of the time. */
function withoutTexts(release: XccdfRelease): XccdfRelease {
  const bare = { vulnDiscussion: '', checkContent: '', fixText: '', ruleTitle: '' };
  return { ...release, profiles: [], findings: release.findings.map((finding) => ({ ...finding, ...bare })) };
}

/** The real benchmarks, loose, zipped and in the library, each once; and what is made of some to meet in every way. */
export async function readReal(): Promise<Read[]> {
  const found = new Map<string, Read>();
  const files = listFiles(['xccdf', 'zips', 'library'].map((name) => reference(name)));
  await discover(files, async ({ sha256, content: bytes }) => {
    if (!Buffer.isBuffer(bytes) || found.has(sha256!)) return true;
    const { content } = parseSource(bytes);
    if (content?.type === 'stig')
      found.set(sha256!, { sha256: sha256!, release: withoutTexts(content.release) });
    return true;
  });
  const real = [...found.values()];
  return [...real, ...variantsOf(real)];
}

/** Other printings, parts, renamed and renumbered ones of real releases. */
function variantsOf(real: Read[]): Read[] {
  const of = (id: string, change: (release: XccdfRelease) => Partial<XccdfRelease>): Read => {
    const { release } = real.find((each) => each.release.benchmarkId === id)!;
    const changed = { ...release, ...change(release) };
    return { sha256: sha256(JSON.stringify(changed)), release: changed };
  };
  const server = 'MS_Windows_Server_2025_MS_STIG';
  const controllers = (release: XccdfRelease) =>
    release.findings.slice(0, 45).map((finding, index) => ({
      ...finding,
      groupId: `V-${279_000 + index}`,
      ruleId: `SV-${279_000 + index}r1_rule`,
      ruleVersion: `WN25-DC-${index}`,
    }));
  const revised = (release: XccdfRelease) =>
    release.findings.map((finding) => ({ ...finding, ruleId: finding.ruleId.replace(/r(\d+)_/, 'r1$1_') }));
  return [
    of(server, (release) => ({
      benchmarkId: 'MS_Windows_Server_2025_STIG',
      findings: [...release.findings, ...controllers(release)],
    })),
    of(server, (release) => ({
      benchmarkId: 'MS_Windows_Server_2025_DC_STIG',
      findings: [
        ...release.findings.filter(({ ruleVersion }) => !ruleVersion.startsWith('WN25-MS')),
        ...controllers(release),
      ],
    })),
    of('RHEL_8_STIG', (release) => ({ statusDate: '2024-01-01', findings: release.findings.slice(0, 300) })),
    of('RHEL_8_STIG', (release) => ({ benchmarkId: 'RHEL_8', version: 'V1R11', findings: revised(release) })),
    of('Microsoft_Windows_11_STIG', (release) => ({
      benchmarkId: 'Windows_11_STIG',
      title: 'Windows 11 Security Technical Implementation Guide',
      version: 'V1R1',
      benchmarkDate: '2022-01-01',
      findings: release.findings.slice(10),
    })),
    of('Kubernetes_STIG', (release) => ({ findings: release.findings.slice(1) })),
    of('Kubernetes_STIG', (release) => ({
      findings: release.findings.slice(0, -1),
      statusDate: '2024-01-01',
    })),
  ];
}

/** Stores releases in runs, as imports do, without reading their files again. Gives the lines of the ledger. */
export async function feed(
  db: Database,
  runs: (Read | ReadDocuments)[][],
  overrides: Map<string, string>[] = [],
): Promise<LedgerLine[]> {
  const ledger: LedgerLine[] = [];
  for (const [index, run] of runs.entries()) {
    const staging = createStaging(db, '2026-01-01T00:00:00.000Z');
    const lines = run.map((each): OpenLine => {
      const { sha256: hash } = each;
      const kind = 'release' in each ? 'xccdf' : 'regdoc-markdown';
      const line = { source: hash, kind, sha256: hash, outcome: 'imported', reason: null } as const;
      const open = {
        ...line,
        warnings: [],
        target: null,
        counts: {},
        ms: 0,
        sourceId: null,
      };
      const content =
        'release' in each
          ? { type: 'stig' as const, release: each.release }
          : { type: 'documents' as const, documents: each.documents };
      return staging.store(open, content);
    });
    const rest = { parts: [], overrides: overrides[index] ?? new Map(), phases: createPhases() };
    await deriveAll(db, { lines, staging, ...rest }, async () => undefined);
    if (db.sqlite.inTransaction) db.sqlite.exec('COMMIT');
    ledger.push(...lines);
  }
  return ledger;
}

/** Rules by id that no served release of their STIG's version has, nor any other served one. */
export function unserved(db: Database): string[] {
  const idsOf = (from: string) =>
    db.sqlite
      .prepare<[], string>(`SELECT rule_id FROM findings WHERE release_id IN (SELECT id FROM ${from})`)
      .pluck()
      .all();
  const served = new Set(idsOf('stig_releases').map(ruleName));
  return idsOf('stig_printings').filter((id) => !served.has(ruleName(id)));
}

/** Random sets of them in random orders and splits give what all at once give: digest, slugs, aliases and versions. */
export function assertAnyOrder(all: Read[], numRuns: number): Promise<void> {
  const scenario = fc.record({
    order: fc.shuffledSubarray(all, { minLength: 2, maxLength: 20 }),
    sizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 20, maxLength: 20 }),
    rows: fc.subarray(['RHEL_8_STIG', 'Firefox', 'MS_Windows_Server_2025_DC_STIG']),
    runOfRows: fc.nat(19),
  });
  return fc.assert(
    fc.asyncProperty(scenario, async ({ order, sizes, rows, runOfRows }) => {
      const rest = [...order];
      const runs = sizes
        .map((size) => rest.splice(0, size))
        .filter((run, index) => run.length > 0 || index === runOfRows);
      const given = new Map(rows.map((id) => [id, `given_${id.toLowerCase()}`]));
      const [split, once] = [emptyCatalog(), emptyCatalog()];
      await feed(
        split,
        runs,
        runs.map((_, index) => (index === Math.min(runOfRows, runs.length - 1) ? given : new Map())),
      );
      await feed(once, [[...order].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))], [given]);
      assert.equal(dumpCatalog(split), dumpCatalog(once));
      assert.equal(tableDigests(split.sqlite), tableDigests(once.sqlite));
      assert.equal(unserved(split), []);
      split.close();
      once.close();
    }),
    { numRuns },
  );
}
