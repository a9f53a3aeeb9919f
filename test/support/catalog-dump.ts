import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type ImportOptions, type ImportResult, runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import { put, scratchFolder } from './scratch.ts';

const later = new Set(['import_runs', 'import_ledger', 'rule_search']);

/** Every table of the catalog with all its columns, one SHA-256 each; the ledger of runs is left out. */
export function tableDigests(db: Database): Record<string, string> {
  const names = db.sqlite
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .pluck()
    .all() as string[];
  const digests: Record<string, string> = {};
  for (const name of names.filter((each) => !later.has(each))) {
    const rows = db.sqlite.prepare(`SELECT * FROM "${name}"`).raw().all();
    const hash = createHash('sha256');
    for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
    digests[name] = `${rows.length} rows ${hash.digest('hex')}`;
  }
  return digests;
}

export interface CatalogDump {
  stigs: {
    id: number;
    slug: string;
    kind: string;
    title: string;
    title_fold: string;
    current: string | null;
  }[];
  aliases: { alias: string; slug: string }[];
  overrides: unknown[];
  /** Every column of a release that is served, with a digest of its findings and of its profiles. */
  releases: ({ slug: string; benchmark_id: string; version: string; findings: string } & Record<
    string,
    unknown
  >)[];
  /** The printings that are not: hash, slug, rules, and the hash of the one that is served instead. */
  superseded: unknown[][];
  sources: { sha256: string; kind: string; target: string | null }[];
  /** Findings and profiles that belong to no release, and what is searched and belongs to no finding. */
  strays: number;
  search: SearchDump;
}

/** What full-text search holds; its own tables are left out, as their segments depend on the order of writing. */
export interface SearchDump {
  /** The releases in the index: `slug version`. */
  releases: string[];
  /** Every rule with the number of words in each of its texts. */
  rules: string;
  ccis: string;
  /** What a few words find, with the relevance of each rule. */
  found: string;
}

/** The STIG part of the catalog without internal ids, times and source paths: equal when the content is. */
export function dumpCatalog(db: Database): CatalogDump {
  const { sqlite } = db;
  const texts = sqlite.prepare('SELECT * FROM findings WHERE release_id = ? ORDER BY ordinal').raw();
  const profiles = sqlite.prepare('SELECT * FROM stig_profiles WHERE release_id = ? ORDER BY ordinal').raw();
  const digest = (rows: unknown[], without: number) => {
    const hash = createHash('sha256');
    for (const row of rows) hash.update(`${JSON.stringify((row as unknown[]).slice(without))}\n`);
    return `${rows.length} rows ${hash.digest('hex')}`;
  };
  const ofFinding = `JOIN findings AS f ON f.id = finding_id
    JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id`;
  const all = (query: string, ...values: string[]) =>
    sqlite
      .prepare(query)
      .raw()
      .all(...values);
  const words = ['the', 'must', 'setting', 'on', 'cci', 'v', 'sv', '1'];
  const search: SearchDump = {
    releases: sqlite
      .prepare(
        `SELECT s.slug || ' ' || r.version FROM searched_releases AS i
           JOIN stig_releases AS r ON r.id = i.release_id JOIN stigs AS s ON s.id = r.stig_id ORDER BY 1`,
      )
      .pluck()
      .all() as string[],
    rules: digest(
      all(
        `SELECT s.slug, f.ordinal, hex(sz) FROM (SELECT id AS finding_id, sz FROM rule_search_docsize)
         ${ofFinding} ORDER BY 1, 2`,
      ),
      0,
    ),
    ccis: digest(all(`SELECT s.slug, f.ordinal, cci FROM rule_ccis ${ofFinding} ORDER BY 1, 2, 3`), 0),
    found: digest(
      words.flatMap((word) =>
        all(
          `SELECT s.slug, f.ordinal, relevance
             FROM (SELECT rowid AS finding_id, bm25(rule_search) AS relevance
                     FROM rule_search WHERE rule_search MATCH ?)
             ${ofFinding} ORDER BY 1, 2`,
          word,
        ),
      ),
      0,
    ),
  };
  const releases = sqlite
    .prepare(
      `SELECT s.slug, src.sha256, src.kind AS sourceKind, src.importer_version AS importerVersion,
              src.target, r.*
         FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
         JOIN sources AS src ON src.id = r.source_id ORDER BY s.slug, r.release_order`,
    )
    .all() as CatalogDump['releases'];
  return {
    stigs: sqlite
      .prepare(
        `SELECT s.id, s.slug, s.kind, s.title, s.title_fold, r.version AS current
           FROM stigs AS s LEFT JOIN stig_releases AS r ON r.id = s.current_release_id ORDER BY s.slug`,
      )
      .all() as CatalogDump['stigs'],
    aliases: sqlite
      .prepare(
        `SELECT a.alias, s.slug FROM stig_aliases AS a JOIN stigs AS s ON s.id = a.stig_id ORDER BY a.alias`,
      )
      .all() as CatalogDump['aliases'],
    overrides: all('SELECT * FROM stig_overrides ORDER BY benchmark_id'),
    superseded: all(
      `SELECT src.sha256, s.slug, p.finding_count, (SELECT count(*) FROM findings WHERE release_id = p.id), k.release_order
         FROM stig_printings AS p JOIN stigs AS s ON s.id = p.stig_id JOIN sources AS src ON src.id = p.source_id
         JOIN stig_printings AS k ON k.id = p.superseded_by ORDER BY src.sha256`,
    ) as unknown[][],
    releases: releases.map(({ id, stig_id: _stig, source_id: _source, ...release }) => ({
      ...release,
      findings: digest(texts.all(id), 2),
      profiles: digest(profiles.all(id), 1),
    })),
    sources: sqlite
      .prepare('SELECT sha256, kind, target FROM sources ORDER BY sha256')
      .all() as CatalogDump['sources'],
    strays: sqlite
      .prepare(
        `SELECT (SELECT count(*) FROM findings WHERE release_id NOT IN (SELECT id FROM stig_printings))
              + (SELECT count(*) FROM stig_profiles WHERE release_id NOT IN (SELECT id FROM stig_printings))
              + (SELECT count(*) FROM stig_evidence WHERE release_id NOT IN (SELECT id FROM stig_printings))
              + (SELECT count(*) FROM rule_marks WHERE release_id NOT IN (SELECT id FROM stig_printings))
              + (SELECT count(*) FROM rule_ids WHERE release_id NOT IN (SELECT id FROM stig_printings))
              + (SELECT count(*) FROM stig_printings WHERE stig_id IS NULL)
              + (SELECT count(*) FROM rule_search_docsize WHERE id NOT IN (SELECT id FROM findings))
              + (SELECT count(*) FROM rule_ccis WHERE finding_id NOT IN (SELECT id FROM findings))`,
      )
      .pluck()
      .get() as number,
    search,
  };
}

/** A fresh catalog in memory. */
/** Writes each text or buffer to a file of its own and imports them in the order given. */
export async function importTexts(
  db: Database,
  texts: (string | Uint8Array)[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const folder = scratchFolder();
  const paths = texts.map((text, index) => put(folder, `${String(index + 1).padStart(3, '0')}.xml`, text));
  try {
    return await runImport(db, paths, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
