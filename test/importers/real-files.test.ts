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
import { windows1252 } from '../support/real-files.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { linesOf } from '../support/tables.ts';
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
  const outcomes = ['imported', 'unchanged', 'superseded', 'skipped', 'rejected'] as const;
  for (const outcome of outcomes)
    assert.is(summary[outcome], lines.filter((line) => line.outcome === outcome).length, outcome);
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
  assert.equal([summary.sources, sum(outcomes.map((each) => summary[each]))], [lines.length, lines.length]);
  assert.is(summary.warnings, sum(lines.map((line) => line.warnings.length)));
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
      xccdf.filter((line) => line.source.startsWith(reference(start)) && line.outcome === outcome).length;
    const places = [
      byPlace('xccdf', 'imported'),
      byPlace('zips', 'imported'),
      byPlace('library', 'unchanged'),
    ];
    assert.equal([...places, xccdf.length], [39, 2, 10, 51]);
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
    const aliases = db.sqlite.prepare("SELECT count(*) FROM stig_aliases WHERE alias LIKE '%windows_10%'");
    assert.is(aliases.pluck().get(), 0, 'SCAP made a STIG');
  });

  test('the second run changes nothing', async () => {
    const before = { digests: tableDigests(db), generation: db.catalogVersion() };
    const second = await runImport(db, paths);
    assertBalance(second);
    const xccdf = second.lines.filter((line) => line.kind === 'xccdf');
    assert.equal(told(xccdf, 'outcome'), Array(51).fill('unchanged'));
    assert.equal(told(second.lines, 'source', 'target'), told(first.lines, 'source', 'target'));
    assert.is(second.summary.rejected, 0);
    assert.equal({ digests: tableDigests(db), generation: db.catalogVersion() }, before);
  });

  test('every rule and every text equals an independent reading, loose and zipped', () => {
    const files = loose.map((name): [string, Buffer] => [name, readFileSync(reference('xccdf', name))]);
    const manual = [...zipped].filter(([source]) => source.endsWith('-xccdf.xml'));
    assert.is(manual.length, 12);
    for (const [source, bytes] of [...files, ...manual]) compare(db, source, bytes, bytes.toString('utf8'));
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

  test('each STIG has its releases, the newest as the current one', () => {
    const expected = `
      red_hat_enterprise_linux_9: V2R8 446 current, V2R7 446, V2R6 447, V2R3 452
      application_security_and_development: V6R4 286 current, V5R2 286
      google_chrome_current_windows: V2R11 46 current, V2R10 42, V2R9 42, V1R12 34
      mozilla_firefox: V6R7 34 current, V6R6 34, V4R27 21, V4R24 23, V4R11 28`;
    const told = db.sqlite
      .prepare(
        `SELECT slug || ': ' || group_concat(version || ' ' || finding_count || iif(r.id = current_release_id, ' current', ''), ', '
                 ORDER BY release_order DESC)
           FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id GROUP BY slug`,
      )
      .pluck()
      .all();
    for (const line of linesOf(expected)) assert.ok(told.includes(line), `${line}\n${told.join('\n')}`);
  });

  test('Firefox is one STIG from three benchmark ids, and the ledger tells the decision', () => {
    const reasons = (name: string) => lineOf(first, name).reason ?? '';
    assert.match(reasons('U_MOZ_Firefox_STIG_V6R7_Manual-xccdf.xml'), /new slug.*mozilla_firefox/);
    for (const name of ['U_Mozilla_FireFox_STIG_V4R24', 'U_Mozilla_FireFox_V4R27']) {
      const { reason, target } = lineOf(first, `${name}_Manual-xccdf.xml`);
      assert.match(reason!, /joined mozilla_firefox: .*other benchmark id.*\d+ %/);
      assert.is(target, 'mozilla_firefox');
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

  test('the quirks that the reference data names are there', () => {
    const value = (what: string, slug: string, version: string) =>
      db.sqlite
        .prepare(
          `SELECT ${what} FROM findings AS f JOIN stig_releases AS r ON r.id = f.release_id
             JOIN stigs AS s ON s.id = r.stig_id WHERE s.slug = ? AND r.version = ?`,
        )
        .pluck()
        .get(slug, version);
    const withCci = "sum(ccis <> '[]')";
    for (const [what, slug, version, expected] of [
      ['max(json_array_length(ccis))', 'red_hat_openshift_container_platform_4_x', 'V2R3', 33],
      ["sum(ia_controls <> '')", 'sharepoint_2010', 'V1R7', 43],
      [withCci, 'voice_video_over_internet_protocol_vvoip', 'V3R13', 0],
      [withCci, 'wlan_access_point_enclave_niprnet_connected', 'V6R14', 0],
      [withCci, 'mdm_server_policy', 'V2R4', 0],
      [withCci, 'mozilla_firefox', 'V4R11', 0],
      ['count(*) - count(DISTINCT group_id)', 'mozilla_firefox', 'V4R11', 2],
      ['r.status', 'microsoft_word_2016', 'V2R1', 'deprecated'],
    ] as const)
      assert.is(value(what, slug, version), expected, `${what} ${slug}`);
    assert.match(
      lineOf(first, 'U_Application_Core_SRG_V4R1_Manual-xccdf.xml').warnings.join('\n'),
      /^.*date.*$/,
    );
    const draft = db.sqlite.prepare("SELECT status FROM stig_releases WHERE version = 'V1R0.1'").pluck();
    assert.is(draft.get(), 'draft');
  });

  test('a file that is not the UTF-8 it says is imported with a warning, and refused under strict', async () => {
    const file = reference('xccdf-malformed', 'U_MS_OneNote_2010_STIG_V1R9_Manual-xccdf.xml');
    const bytes = readFileSync(file);
    const again = Buffer.from(bytes.toString('utf8'));
    const offset = bytes.findIndex((byte, at) => byte !== again[at]);
    const before = tableDigests(db);
    const strict = await runImport(db, [file], { strict: true });
    assert.equal([strict.stored, ...told(strict.lines, 'outcome')], [false, 'rejected']);
    assert.match(strict.lines[0]!.reason!, new RegExp(`UTF-8.*offset ${offset}\\b`));
    assert.equal(tableDigests(db), before);

    const result = await runImport(db, [file]);
    assertBalance(result);
    const [line] = result.lines as [LedgerLine];
    assert.equal([line.outcome, line.warnings.length], ['imported', 1]);
    const byte = bytes[offset]!.toString(16).toUpperCase();
    assert.match(line.warnings[0]!, new RegExp(`UTF-8.*0x${byte}.*offset ${offset}\\b.*windows-1252`));
    const decoded = windows1252(bytes);
    assert.match(decoded, /[\u201c\u201d]/);
    compare(db, file, bytes, decoded);
    assert.is(dumpCatalog(db).strays, 0);
  });

  test.run();
}

function lineOf(result: ImportResult, file: string): LedgerLine {
  const line = result.lines.find((each) => each.source.endsWith(`/${file}`));
  assert.ok(line, `no ledger line for ${file}`);
  return line;
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
