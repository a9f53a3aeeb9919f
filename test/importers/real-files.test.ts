import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import yauzl from 'yauzl';
import type { LedgerLine } from '../../importers/ledger-lines.ts';
import { type ImportResult, runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import type { Database } from '../../src/db/database.ts';
import { dumpCatalog, tableDigests } from '../support/catalog-dump.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { told } from '../support/told.ts';
import {
  benchmarkDate,
  joinTexts,
  type ReadBenchmark,
  readBenchmark,
  versionString,
} from '../support/xccdf-reader.ts';

type Row = Record<string, string | number | null>;

/** Compares what the database holds of one file with the independent reading of it, text by text. */
function compare(db: Database, source: string, bytes: Uint8Array, text: string): ReadBenchmark {
  const read = readBenchmark(text);
  const release = db.sqlite
    .prepare('SELECT r.* FROM stig_releases AS r JOIN sources AS s ON s.id = r.source_id WHERE s.sha256 = ?')
    .get(sha256(bytes)) as Row | undefined;
  assert.ok(release, `${source} is not in the catalog`);
  const date = benchmarkDate(read.releaseInfo);
  const count = (severity: string) => read.rules.filter((rule) => rule.severity === severity).length;
  const stated = {
    benchmark_id: read.id,
    title: read.title,
    description: read.description,
    version: versionString(read),
    release_info: read.releaseInfo,
    status: read.status,
    status_date: read.statusDate,
    benchmark_date: date,
    release_date: date ?? read.statusDate,
    finding_count: read.rules.length,
    high: count('high'),
    medium: count('medium'),
    low: count('low'),
    profile_count: read.profiles.length,
  };
  assert.equal(pick(release, Object.keys(stated)), stated, source);

  const findings = db.sqlite
    .prepare('SELECT * FROM findings WHERE release_id = ? ORDER BY ordinal')
    .all(release.id) as Row[];
  const wanted = read.rules.map((rule, index) => ({
    ordinal: index + 1,
    group_id: rule.groupId,
    rule_id: rule.ruleId,
    rule_version: rule.version,
    severity: rule.severity,
    weight: rule.weight,
    ccis: JSON.stringify(rule.ccis),
    legacy_ids: JSON.stringify(rule.legacyIds),
    group_title: rule.groupTitle,
    group_description: rule.groupDescription,
    rule_title: rule.title,
    fix_id: rule.fixRefs[0] ?? rule.fixIds[0] ?? '',
    check_system: rule.checks[0]?.system ?? '',
    check_ref_href: rule.checks[0]?.href ?? null,
    check_ref_name: rule.checks[0]?.name ?? null,
    reference_identifier: rule.identifiers[0] ?? null,
    documentable: rule.tags.Documentable,
    responsibility: rule.tags.Responsibility,
    ia_controls: rule.tags.IAControls,
    false_positives: rule.tags.FalsePositives,
    false_negatives: rule.tags.FalseNegatives,
    mitigations: rule.tags.Mitigations,
    severity_override_guidance: rule.tags.SeverityOverrideGuidance,
    potential_impacts: rule.tags.PotentialImpacts,
    third_party_tools: rule.tags.ThirdPartyTools,
    mitigation_control: rule.tags.MitigationControl,
    vuln_discussion: rule.tags.VulnDiscussion,
    check_content: joinTexts(rule.checks.map((check) => check.content)),
    fix_text: joinTexts(rule.fixTexts),
  }));
  assert.is(findings.length, wanted.length, source);
  for (const [index, rule] of wanted.entries()) {
    const { id: _, release_id: __, ...stored } = findings[index]!;
    assert.equal(stored, rule, `${source}, rule ${index + 1}: ${rule.rule_id}`);
  }

  const profiles = db.sqlite
    .prepare(
      'SELECT profile_id, title, description, unselected FROM stig_profiles WHERE release_id = ? ORDER BY ordinal',
    )
    .all(release.id);
  const groups = [...new Set(read.rules.map((rule) => rule.groupId))];
  const expected = read.profiles.map((profile) => ({
    profile_id: profile.id,
    title: profile.title,
    description: profile.description,
    unselected: JSON.stringify(groups.filter((group) => !profile.selected.includes(group))),
  }));
  assert.equal(profiles, expected, `${source}, profiles`);
  return read;
}

function pick(row: Row, names: string[]): Row {
  return Object.fromEntries(names.map((name) => [name, row[name]!]));
}

function assertBalance({ lines, summary }: ImportResult): void {
  const count = (outcome: string) => lines.filter((line) => line.outcome === outcome).length;
  const { imported, unchanged, superseded, skipped, rejected } = summary;
  assert.is(summary.sources, lines.length);
  assert.is(imported + unchanged + superseded + skipped + rejected, summary.sources);
  assert.equal(
    { imported, unchanged, superseded, skipped, rejected },
    {
      imported: count('imported'),
      unchanged: count('unchanged'),
      superseded: count('superseded'),
      skipped: count('skipped'),
      rejected: count('rejected'),
    },
  );
  assert.is(
    summary.warnings,
    lines.reduce((sum, line) => sum + line.warnings.length, 0),
  );
}

const samples = suite('the shipped sample benchmarks');

samples('every text equals an independent reading', async () => {
  const db = emptyCatalog();
  const folder = shipped('stigs');
  const result = await runImport(db, [folder]);
  assertBalance(result);
  const files = readdirSync(folder).filter((name) => name.endsWith('.xml'));
  assert.ok(files.length >= 3);
  for (const name of files) {
    const bytes = readFileSync(join(folder, name));
    const read = compare(db, name, bytes, bytes.toString('utf8'));
    assert.ok(read.rules.length >= 10, `${name} has fewer than 10 rules`);
  }
  assert.is(db.sqlite.prepare('SELECT count(*) FROM stig_releases').pluck().get(), files.length);
});

samples.run();

const real = suiteIf(referenceData, 'the real files');
if (real) realFiles(real);

function realFiles(test: ReturnType<typeof suite>): void {
  let db: Database;
  let first: ImportResult;
  const paths = [reference('xccdf'), reference('zips'), reference('library')];
  const loose = readdirSync(reference('xccdf')).sort();
  const table = readTable();
  const expectedSources: string[] = [];
  const zipped = new Map<string, Buffer>();

  test.before(async () => {
    for (const name of loose) expectedSources.push(reference('xccdf', name));
    for (const folder of ['zips', 'library']) {
      for (const name of readdirSync(reference(folder)).sort()) {
        const path = reference(folder, name);
        await listZip(path, readFileSync(path), expectedSources, zipped);
      }
    }
    db = emptyCatalog();
    first = await runImport(db, paths);
  });

  test('all 39 loose files and the two zipped ones are imported, the ten of the library are unchanged', () => {
    assert.is(loose.length, 39);
    assertBalance(first);
    assert.is(first.summary.rejected, 0);
    assert.is(first.summary.superseded, 0);
    const met = first.lines.map((line) => line.source);
    assert.equal(
      expectedSources.filter((source) => !met.includes(source)),
      [],
      'without a line',
    );
    assert.is(met.length, expectedSources.length, 'each once');
    const xccdf = first.lines.filter((line) => line.kind === 'xccdf');
    const byPlace = (start: string, outcome: string) =>
      xccdf.filter((line) => line.source.startsWith(start) && line.outcome === outcome).length;
    assert.is(byPlace(reference('xccdf'), 'imported'), 39);
    assert.is(byPlace(reference('zips'), 'imported'), 2);
    assert.is(byPlace(reference('library'), 'unchanged'), 10);
    assert.is(xccdf.length, 51);
    assert.ok(first.stored);
    assert.is(db.sqlite.prepare('SELECT count(*) FROM stig_releases').pluck().get(), 41);
    // The SCAP package is a source too.
    assert.is(db.sqlite.prepare('SELECT count(*) FROM sources').pluck().get(), 42);
  });

  test('the SCAP packages make no STIG, everything else is skipped with its own reason', () => {
    const scap = first.lines.filter((line) => line.kind === 'scap');
    assert.equal(
      scap.map(({ outcome, target, counts }) => [outcome, target, counts.rules]),
      [
        ['imported', 'MS_Windows_10_STIG', 225],
        ['unchanged', 'MS_Windows_10_STIG', undefined],
      ],
    );
    const others = first.lines.filter((line) => line.kind === 'other');
    assert.ok(others.length > 0);
    for (const line of others) {
      assert.is(line.outcome, 'skipped', line.source);
      assert.match(
        line.reason!,
        line.source.endsWith('.xsl') ? /root <stylesheet>/ : /of an unknown kind|empty/,
      );
    }
    assert.not(
      db.sqlite.prepare("SELECT 1 FROM stigs WHERE slug = 'microsoft_windows_10'").get(),
      'SCAP made a STIG',
    );
    assert.is(
      db.sqlite.prepare("SELECT count(*) FROM stig_aliases WHERE alias LIKE '%windows_10%'").pluck().get(),
      0,
    );
  });

  test('the second run changes nothing', async () => {
    const before = { digests: tableDigests(db), generation: db.generation() };
    const second = await runImport(db, paths);
    assertBalance(second);
    assert.equal(
      second.lines.filter((line) => line.kind === 'xccdf').map((line) => line.outcome),
      Array(51).fill('unchanged'),
    );
    assert.is(second.lines.length, first.lines.length);
    for (const [index, line] of second.lines.entries()) {
      assert.is(line.source, first.lines[index]!.source);
      assert.is(line.target, first.lines[index]!.target, line.source);
    }
    assert.is(second.summary.rejected, 0);
    assert.equal({ digests: tableDigests(db), generation: db.generation() }, before);
  });

  test('counts, versions, dates and status equal the table of the reference data', () => {
    assert.is(table.length, 39);
    assert.equal(
      table.map((row) => row.file),
      loose,
    );
    for (const row of table) {
      const line = lineOf(first, row.file);
      const release = db.sqlite
        .prepare(
          'SELECT r.* FROM stig_releases AS r JOIN sources AS s ON s.id = r.source_id WHERE s.sha256 = ?',
        )
        .get(line.sha256) as Row;
      const [status, statusDate] = row.status.split(' ');
      const date = benchmarkDate(row.release);
      assert.equal(
        pick(release, [
          'benchmark_id',
          'title',
          'version',
          'release_info',
          'status',
          'status_date',
          'benchmark_date',
          'release_date',
          'finding_count',
        ]),
        {
          benchmark_id: row.benchmarkId,
          title: row.title,
          version: `V${row.version}R${row.release.split(' ')[1]}`,
          release_info: row.release,
          status: status!,
          status_date: statusDate === 'None' ? null : statusDate!,
          benchmark_date: date,
          release_date: date ?? (statusDate === 'None' ? null : statusDate!),
          finding_count: row.rules,
        },
        row.file,
      );
      assert.is(line.counts.rules, row.rules);
    }
  });

  test('every rule and every text of the loose files equals an independent reading', () => {
    for (const name of loose) {
      const bytes = readFileSync(reference('xccdf', name));
      const read = compare(db, name, bytes, bytes.toString('utf8'));
      assert.is(read.rules.length, table.find((row) => row.file === name)!.rules, name);
    }
  });

  test('every rule and every text of the zipped files equals an independent reading', () => {
    const manual = [...zipped].filter(([source]) => source.endsWith('-xccdf.xml'));
    assert.is(manual.length, 12);
    const counts = new Map<string, number>();
    for (const [source, bytes] of manual)
      counts.set(source, compare(db, source, bytes, bytes.toString('utf8')).rules.length);
    const countOf = (end: string) => [...counts].find(([source]) => source.endsWith(end))?.[1];
    assert.is(countOf('U_RHEL_9_STIG_V2R6_Manual-xccdf.xml'), 447);
    assert.is(countOf('U_ASD_STIG_V5R2_Manual-xccdf.xml'), 286);
  });

  test('no text holds a replacement character, a NUL or another control', () => {
    const texts = db.sqlite.prepare('SELECT * FROM findings').raw().all() as unknown[][];
    assert.ok(texts.length > 5000);
    for (const row of texts) {
      for (const cell of row) {
        if (typeof cell === 'string')
          assert.not.match(cell, /[\ufffd\u0000-\u0008\u000b\u000c\u000d-\u001f]/, String(row[4]));
      }
    }
  });

  test('RHEL 9 has four retained releases, V2R8 current with 446 rules', () => {
    assert.equal(releasesOf('red_hat_enterprise_linux_9'), [
      { version: 'V2R8', finding_count: 446, current: 1 },
      { version: 'V2R7', finding_count: 446, current: 0 },
      { version: 'V2R6', finding_count: 447, current: 0 },
      { version: 'V2R3', finding_count: 452, current: 0 },
    ]);
    assert.equal(releasesOf('application_security_and_development'), [
      { version: 'V6R4', finding_count: 286, current: 1 },
      { version: 'V5R2', finding_count: 286, current: 0 },
    ]);
    assert.equal(
      releasesOf('google_chrome_current_windows').map((release) => release.version),
      ['V2R11', 'V2R10', 'V2R9', 'V1R12'],
    );
  });

  test('Firefox is one STIG from three benchmark ids, and the ledger tells the decision', () => {
    assert.equal(
      releasesOf('mozilla_firefox').map((release) => [release.version, release.current]),
      [
        ['V6R7', 1],
        ['V6R6', 0],
        ['V4R27', 0],
        ['V4R24', 0],
        ['V4R11', 0],
      ],
    );
    const ids = db.sqlite
      .prepare(
        "SELECT DISTINCT r.benchmark_id FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id WHERE s.slug = 'mozilla_firefox' ORDER BY 1",
      )
      .pluck()
      .all();
    assert.equal(ids, ['Firefox', 'MOZ_Firefox_STIG', 'Mozilla_FireFox_STIG']);
    const reasons = (name: string) => lineOf(first, name).reason ?? '';
    assert.match(reasons('U_MOZ_Firefox_STIG_V6R7_Manual-xccdf.xml'), /new slug.*mozilla_firefox/);
    for (const name of [
      'U_Mozilla_FireFox_STIG_V4R24_Manual-xccdf.xml',
      'U_Mozilla_FireFox_V4R27_Manual-xccdf.xml',
    ]) {
      assert.match(reasons(name), /joined mozilla_firefox: .*other benchmark id.*\d+ %/);
      assert.is(lineOf(first, name).target, 'mozilla_firefox');
    }
  });

  test('the STIGs are those that the table gives, one for each product', () => {
    const slugs = db.sqlite.prepare('SELECT slug FROM stigs ORDER BY slug').pluck().all() as string[];
    const expected = `
      apache_tomcat_application_sever_9 apple_ios_12 apple_macos_11_big_sur application_core
      application_security_and_development canonical_ubuntu_20_04_lts cisco_ios_xe_router_rtr
      citrix_xendesktop_v7_x_storefront crunchy_data_postgresql general_purpose_operating_system
      google_chrome_current_windows ibm_hardware_management_console_hmc_stig_policies ibm_z_os_racf
      juniper_router_ndm kubernetes mdm_server_policy microsoft_windows_11 microsoft_windows_server_2025
      microsoft_word_2016 mozilla_firefox ms_sql_server_2016_instance palo_alto_networks_ndm
      red_hat_enterprise_linux_8 red_hat_enterprise_linux_9 red_hat_openshift_container_platform_4_x
      sharepoint_2010 voice_video_over_internet_protocol_vvoip
      wlan_access_point_enclave_niprnet_connected`;
    assert.equal(slugs, expected.trim().split(/\s+/));
    const srgs = db.sqlite.prepare("SELECT slug FROM stigs WHERE kind = 'srg' ORDER BY slug").pluck().all();
    assert.equal(srgs, ['application_core', 'general_purpose_operating_system']);
  });

  test('releases differ by V-id and rule id as the reference data states', () => {
    const rules = (slug: string, version: string) =>
      new Map(
        db.sqlite
          .prepare(
            `SELECT f.group_id, f.rule_id FROM findings AS f JOIN stig_releases AS r ON r.id = f.release_id
               JOIN stigs AS s ON s.id = r.stig_id WHERE s.slug = ? AND r.version = ?`,
          )
          .raw()
          .all(slug, version) as [string, string][],
      );
    const difference = (slug: string, from: string, to: string) => {
      const before = rules(slug, from);
      const after = rules(slug, to);
      assert.ok(before.size > 0 && after.size > 0, `${slug} ${from} ${to}`);
      return {
        gained: [...after.keys()].filter((id) => !before.has(id)).length,
        lost: [...before.keys()].filter((id) => !after.has(id)).length,
        changed: [...after].filter(([id, rule]) => before.has(id) && before.get(id) !== rule).length,
      };
    };
    const expected = `
      red_hat_enterprise_linux_9    V2R3  V2R7  3 9 121
      red_hat_enterprise_linux_9    V2R7  V2R8  0 0 27
      google_chrome_current_windows V2R10 V2R11 6 2
      ms_sql_server_2016_instance   V3R5  V3R6  0 17
      kubernetes                    V1R1  V1R2  4 4`;
    for (const line of expected.trim().split('\n')) {
      const [slug, from, to, ...counts] = line.trim().split(/ +/) as [string, string, string];
      const { gained, lost, changed } = difference(slug, from, to);
      assert.equal([gained, lost, changed].slice(0, counts.length).map(String), counts, line);
    }
  });

  test('the quirks that the reference data names are there', () => {
    const value = (sql: string, ...args: unknown[]) =>
      db.sqlite
        .prepare(sql)
        .pluck()
        .get(...args);
    const inRelease = (slug: string, version: string) =>
      value(
        'SELECT r.id FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id WHERE s.slug = ? AND r.version = ?',
        slug,
        version,
      ) as number;
    const ocp = inRelease('red_hat_openshift_container_platform_4_x', 'V2R3');
    assert.is(value('SELECT max(json_array_length(ccis)) FROM findings WHERE release_id = ?', ocp), 33);
    const sharepoint = inRelease('sharepoint_2010', 'V1R7');
    assert.is(
      value("SELECT count(*) FROM findings WHERE release_id = ? AND ia_controls <> ''", sharepoint),
      43,
    );
    for (const [slug, version] of [
      ['voice_video_over_internet_protocol_vvoip', 'V3R13'],
      ['wlan_access_point_enclave_niprnet_connected', 'V6R14'],
      ['mdm_server_policy', 'V2R4'],
      ['mozilla_firefox', 'V4R11'],
    ] as const) {
      const withCci = "SELECT count(*) FROM findings WHERE release_id = ? AND ccis <> '[]'";
      assert.is(value(withCci, inRelease(slug, version)), 0, slug);
    }
    const firefox = inRelease('mozilla_firefox', 'V4R11');
    assert.is(
      value('SELECT count(*) - count(DISTINCT group_id) FROM findings WHERE release_id = ?', firefox),
      2,
    );
    const core = lineOf(first, 'U_Application_Core_SRG_V4R1_Manual-xccdf.xml');
    assert.is(core.warnings.length, 1);
    assert.match(core.warnings[0]!, /date/);
    assert.is(value("SELECT status FROM stig_releases WHERE version = 'V1R0.1'"), 'draft');
    assert.is(
      value('SELECT status FROM stig_releases WHERE id = ?', inRelease('microsoft_word_2016', 'V2R1')),
      'deprecated',
    );
  });

  test('a file that is not the UTF-8 it says is imported with a warning, and refused under strict', async () => {
    const file = reference('xccdf-malformed', 'U_MS_OneNote_2010_STIG_V1R9_Manual-xccdf.xml');
    const bytes = readFileSync(file);
    const offset = firstBadByte(bytes);
    assert.ok(offset > 0);
    const before = tableDigests(db);
    const strict = await runImport(db, [file], { strict: true });
    assert.is(strict.stored, false);
    assert.equal(told(strict.lines, 'outcome'), ['rejected']);
    assert.match(strict.lines[0]!.reason!, new RegExp(`UTF-8.*offset ${offset}\\b`));
    assert.equal(tableDigests(db), before);

    const result = await runImport(db, [file]);
    assertBalance(result);
    const [line] = result.lines as [LedgerLine];
    assert.is(line.outcome, 'imported');
    assert.is(line.warnings.length, 1);
    const byte = bytes[offset]!.toString(16).toUpperCase();
    assert.match(line.warnings[0]!, new RegExp(`UTF-8.*0x${byte}.*offset ${offset}\\b.*windows-1252`));
    const lineNumber = bytes.subarray(0, offset).toString('latin1').split('\n').length;
    assert.match(line.warnings[0]!, new RegExp(`line ${lineNumber}\\b`));
    compare(db, file, bytes, decodeWindows1252(bytes));
    const quotes = db.sqlite
      .prepare(
        "SELECT count(*) FROM findings AS f JOIN stig_releases AS r ON r.id = f.release_id WHERE r.version = 'V1R9' AND (f.vuln_discussion || f.check_content || f.fix_text) GLOB '*[\u201c\u201d]*'",
      )
      .pluck()
      .get() as number;
    assert.ok(quotes > 0, 'the quotation marks are there as what they are');
    assert.is(dumpCatalog(db).strays, 0);
  });

  test.run();

  function releasesOf(slug: string) {
    return db.sqlite
      .prepare(
        `SELECT r.version, r.finding_count, r.id = s.current_release_id AS current
           FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id WHERE s.slug = ? ORDER BY r.release_order DESC`,
      )
      .all(slug) as { version: string; finding_count: number; current: number }[];
  }
}

function lineOf(result: ImportResult, file: string): LedgerLine {
  const line = result.lines.find((each) => each.source.endsWith(`/${file}`));
  assert.ok(line, `no ledger line for ${file}`);
  return line;
}

interface TableRow {
  file: string;
  benchmarkId: string;
  title: string;
  version: string;
  release: string;
  status: string;
  rules: number;
}

/** The table of loose XCCDF files in the README of the reference data. */
function readTable(): TableRow[] {
  const readme = readFileSync(reference('README.md'), 'utf8');
  const section = /^## xccdf\/ .*\n([\s\S]*?)\n## /m.exec(readme)![1]!;
  return section
    .split('\n')
    .filter((line) => /^\| \S+\.xml \|/.test(line))
    .map((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      const [, file, benchmarkId, title, version, release, status, rules] = cells as string[];
      return {
        file: file!,
        benchmarkId: benchmarkId!.replaceAll('`', ''),
        title: title!,
        version: version!,
        release: release!,
        status: status!,
        rules: Number(rules),
      };
    })
    .sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Lists a zip and the zips in it, apart from the importer: every source by its name, every file's bytes. */
async function listZip(
  source: string,
  bytes: Buffer,
  sources: string[],
  files: Map<string, Buffer>,
): Promise<void> {
  sources.push(source);
  const zip = await yauzl.fromBufferPromise(bytes, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const name = `${source}!/${entry.fileName}`;
    const parts: Buffer[] = [];
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
    const data = Buffer.concat(parts);
    if (name.endsWith('.zip')) await listZip(name, data, sources, files);
    else {
      sources.push(name);
      files.set(name, data);
    }
  }
}

/** Where UTF-8 first breaks, found byte by byte. */
function firstBadByte(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    const length = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
    if (length === 0) return at;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(at, at + length));
    } catch {
      return at;
    }
    at += length;
  }
  return -1;
}

function decodeWindows1252(bytes: Buffer): string {
  const high: Record<string, string> = {
    '\x85': '\u2026',
    '\x91': '\u2018',
    '\x92': '\u2019',
    '\x93': '\u201c',
    '\x94': '\u201d',
    '\x95': '\u2022',
    '\x96': '\u2013',
    '\x97': '\u2014',
  };
  return bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => {
    assert.ok(high[character], `a byte that this table does not know: ${character.charCodeAt(0)}`);
    return high[character]!;
  });
}
