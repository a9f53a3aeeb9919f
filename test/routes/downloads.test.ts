import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import type { Database } from '../../src/db/database.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { readCsv, readXmlRows } from '../support/read-exports.ts';
import { benchmarkFiles, benchmarkPaths } from '../support/real-files.ts';
import { hasReferenceData, shipped } from '../support/reference.ts';
import { readCklb } from '../support/stig-manager.ts';
import { rowsOf } from '../support/tables.ts';
import {
  benchmarkDate,
  joinTexts,
  type ReadBenchmark,
  type ReadRule,
  readBenchmark,
  versionString,
} from '../support/xccdf-reader.ts';

// Every download of every benchmark file there is, against an independent reading of the file.
const downloads = suite('STIG downloads');

interface Case {
  source: string;
  slug: string;
  read: ReadBenchmark;
  /** The path of its download, format to be added. */
  path: string;
}
const cases: Case[] = [];
let t: TestApp;

function slugOf(db: Database, bytes: Uint8Array): string {
  const hash = createHash('sha256').update(bytes).digest('hex');
  return db.sqlite
    .prepare(
      'SELECT s.slug FROM stigs AS s JOIN stig_releases AS r ON r.stig_id = s.id JOIN sources AS f ON f.id = r.source_id WHERE f.sha256 = ?',
    )
    .pluck()
    .get(hash) as string;
}

downloads.before(async () => {
  t = await testApp(benchmarkPaths);
  for (const { source, bytes, text } of await benchmarkFiles()) {
    const slug = slugOf(t.db, bytes);
    assert.ok(slug, `${source} is not in the catalog`);
    const read = readBenchmark(text);
    cases.push({ source, slug, read, path: `/api/v1/stigs/${slug}/download?version=${versionString(read)}` });
  }
});
downloads.after(() => t.db.close());

const releaseDate = (read: ReadBenchmark) => benchmarkDate(read.releaseInfo) ?? read.statusDate;
const hasDate = (read: ReadBenchmark) => / Benchmark Date: /.test(read.releaseInfo);
const checkText = (rule: ReadRule) => joinTexts(rule.checks.map((check) => check.content));

function rawRecord({ read, slug }: Case) {
  const date = releaseDate(read);
  const midnight = date === null ? null : `${date}T00:00:00Z`;
  return {
    id: Number(BigInt(`0x${createHash('sha256').update(slug).digest('hex')}`) >> 204n),
    benchmarkId: read.id,
    slug,
    status: read.status,
    statusDate: read.statusDate,
    title: read.title,
    description: read.description,
    version: versionString(read),
    releaseDate: date,
    createdAt: midnight,
    updatedAt: midnight,
    groups: read.rules.map((rule) => ({
      groupId: rule.groupId,
      groupTitle: rule.groupTitle,
      ruleId: rule.ruleId,
      ruleWeight: Number.parseFloat(rule.weight),
      ruleSeverity: rule.severity,
      ruleVersion: rule.version,
      ruleTitle: rule.title,
      ruleVulnDiscussion: rule.tags.VulnDiscussion,
      ruleFalsePositives: rule.tags.FalsePositives,
      ruleFalseNegatives: rule.tags.FalseNegatives,
      ruleDocumentable: rule.tags.Documentable === 'true',
      ruleMitigations: rule.tags.Mitigations,
      ruleSeverityOverrideGuidance: rule.tags.SeverityOverrideGuidance,
      rulePotentialImpacts: rule.tags.PotentialImpacts,
      ruleThirdPartyTools: rule.tags.ThirdPartyTools,
      ruleMitigationControl: rule.tags.MitigationControl,
      ruleResponsibility: rule.tags.Responsibility,
      ruleIAControls: rule.tags.IAControls,
      ruleIdent: rule.ccis[0] ?? '',
      ruleIdents: rule.ccis,
      ruleLegacyIds: rule.legacyIds,
      ruleFixText: joinTexts(rule.fixTexts),
      ruleFixId: rule.fixRefs[0] ?? rule.fixIds[0] ?? '',
      ruleCheckSystem: rule.checks[0]?.system ?? '',
      ruleCheckContent: checkText(rule),
    })),
    profiles: read.profiles.map(({ id, title, description }) => ({ profileId: id, title, description })),
  };
}

function flatRows(read: ReadBenchmark): string[][] {
  return read.rules.map((rule) => [
    rule.groupId,
    rule.groupTitle,
    rule.severity,
    rule.ruleId,
    rule.version,
    rule.title,
    rule.tags.VulnDiscussion,
    checkText(rule),
    joinTexts(rule.fixTexts),
    rule.ccis[0] ?? '',
    rule.ccis.join(';'),
  ]);
}
const flatColumns =
  'groupId,title,severity,ruleId,ruleVersion,ruleTitle,vulnDiscussion,checkContent,fixText,ruleIdent,ruleIdents'.split(
    ',',
  );

downloads('every benchmark file is there, and every real one where the reference data is', () => {
  assert.is(cases.length, hasReferenceData ? 3 + 39 + 2 + 1 : 3);
  assert.is(new Set(cases.map((each) => each.path)).size, cases.length);
  const rules = cases.reduce((sum, each) => sum + each.read.rules.length, 0);
  assert.ok(rules > (hasReferenceData ? 5000 : 35), `${rules} rules`);
});

downloads('json: every rule and every text, the keys in the documented order', async () => {
  for (const each of cases) {
    const { status, text, json } = await t.get(`${each.path}&format=json`);
    assert.is(status, 200, each.source);
    const expected = rawRecord(each);
    for (const [index, group] of expected.groups.entries())
      assert.equal(json.groups[index], group, `${each.source}, rule ${index + 1}`);
    assert.equal(json, expected, each.source);
    assert.is(text, JSON.stringify(expected), `${each.source}: the order of the keys`);
  }
});

downloads('cklb: passes our schema and states every rule', async () => {
  const uuids = new Set<string>();
  for (const { source, path, read } of cases) {
    const { status, json } = await t.get(path);
    assert.is(status, 200, source);
    const { stigs, ...head } = Cklb.parse(json);
    assert.is(stigs.length, 1);
    const { rules, ...stig } = stigs[0]!;
    const shortTitle = read.title.replace(/ Security Technical Implementation Guide$/, '');
    assert.equal([head.cklb_version, head.active, head.mode, head.has_path], ['1.0', false, 1, true]);
    assert.is(head.target_data.host_name, '');
    assert.equal(
      { ...stig, uuid: '' },
      {
        stig_name: read.title,
        display_name: shortTitle,
        stig_id: read.id,
        // Nothing of ours or of DISA's but the Core SRG lacks a date, and that has none in its status either.
        release_info: hasDate(read) ? read.releaseInfo : 'Release: 1 Benchmark Date: unknown',
        version: read.version,
        uuid: '',
        reference_identifier: read.rules[0]!.identifiers[0] ?? null,
        size: read.rules.length,
      },
    );
    for (const [index, rule] of read.rules.entries()) {
      const { uuid, ...stated } = rules[index]!;
      uuids.add(uuid);
      assert.equal(stated, cklbRule(rule, stig.uuid), `${source}, rule ${index + 1}`);
    }
    assert.is(rules.length, read.rules.length);
    uuids.add(head.id).add(stig.uuid);
  }
  const ids = cases.reduce((sum, each) => sum + each.read.rules.length + 2, 0);
  assert.is(uuids.size, ids, 'every checklist, STIG and rule of every release has an id of its own');
});

function cklbRule(rule: ReadRule, stigUuid: string) {
  const check = rule.checks[0];
  return {
    stig_uuid: stigUuid,
    group_id: rule.groupId,
    group_id_src: rule.groupId,
    rule_id: rule.ruleId.replace(/_rule$/, ''),
    rule_id_src: rule.ruleId,
    target_key: null,
    stig_ref: null,
    weight: rule.weight,
    classification: 'Unclassified',
    severity: rule.severity,
    rule_version: rule.version,
    rule_title: rule.title,
    group_title: rule.groupTitle,
    fix_text: joinTexts(rule.fixTexts),
    discussion: rule.tags.VulnDiscussion,
    check_content: checkText(rule),
    check_content_ref: check?.href == null ? null : { href: check.href, name: check.name ?? '' },
    reference_identifier: rule.identifiers[0] ?? null,
    false_positives: rule.tags.FalsePositives,
    false_negatives: rule.tags.FalseNegatives,
    documentable: rule.tags.Documentable,
    mitigations: rule.tags.Mitigations,
    potential_impacts: rule.tags.PotentialImpacts,
    third_party_tools: rule.tags.ThirdPartyTools,
    mitigation_control: rule.tags.MitigationControl,
    responsibility: rule.tags.Responsibility,
    security_override_guidance: rule.tags.SeverityOverrideGuidance,
    ia_controls: rule.tags.IAControls,
    legacy_ids: rule.legacyIds,
    ccis: rule.ccis,
    group_tree: [
      {
        id: rule.groupId,
        title: rule.groupTitle,
        description: `<GroupDescription>${rule.groupDescription}</GroupDescription>`,
      },
    ],
    status: 'not_reviewed',
    overrides: {},
    comments: '',
    finding_details: '',
  };
}

downloads('cklb: STIG Manager reads it without loss when a host name is given', async () => {
  for (const { source, path, read } of cases) {
    const { target, checklists } = readCklb((await t.get(`${path}&hostName=host-1`)).text);
    assert.equal([target.name, checklists.length], ['host-1', 1], source);
    const { benchmarkId, revisionStr, reviews, stats } = checklists[0]!;
    assert.equal([benchmarkId, revisionStr], [read.id, versionString(read)], source);
    const ids = read.rules.map((rule) => rule.ruleId);
    assert.equal([reviews.map((review) => review.ruleId), stats.notchecked], [ids, ids.length]);
  }
  const dateless = cases.filter(({ read }) => !hasDate(read));
  assert.is(dateless.length, hasReferenceData ? 1 : 0, 'the Core SRG');
});

downloads('cklb: the release is found in it however its benchmark states release and dates', async () => {
  const texts: [releaseInfo: string, statusDate: string | null, expected: string][] = [
    ['Release: 3', '2024-09-05', 'Release: 3 Benchmark Date: 05 Sep 2024'],
    ['Release: 0.1', null, 'Release: 0.1 Benchmark Date: unknown'],
    ['release: 4 Benchmark Date: 2 Sept 2024', null, 'Release: 4 Benchmark Date: 02 Sep 2024'],
    ['Release: 5 Benchmark Date: 2 Sept 2024', null, 'Release: 5 Benchmark Date: 2 Sept 2024'],
    ['Release: 06 Benchmark Date: 01 Jan 2025', null, 'Release: 06 Benchmark Date: 01 Jan 2025'],
  ];
  const samples = texts.map(([releaseInfo, statusDate], index) => {
    return { id: `T${index}_STIG`, title: `T${index} STIG`, version: '2', releaseInfo, statusDate };
  });
  const made = await testApp([writeBenchmarks(samples)]);
  for (const [index, [, , expected]] of texts.entries()) {
    const { text } = await made.get(`/api/v1/stigs/t${index}/download?hostName=a`);
    assert.is(JSON.parse(text).stigs[0].release_info, expected);
    const release = /^Release: (\S+)/.exec(expected)![1];
    assert.is(readCklb(text).checklists[0]!.revisionStr, `V2R${release}`);
  }
  made.db.close();
});

downloads('csv and xml: strict readers read the same values; csv is escaped unless it is raw', async () => {
  const guard = (cell: string) => (/^[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell);
  for (const { source, path, read } of cases) {
    const wanted = flatRows(read);
    const { text } = await t.get(`${path}&format=csv&raw=true`);
    assert.ok(text.startsWith(`${flatColumns.join(',')}\r\n`) && text.endsWith('\r\n'), source);
    assert.equal(readCsv(text), [flatColumns, ...wanted], source);
    const escaped = readCsv((await t.get(`${path}&format=csv`)).text);
    assert.equal(escaped, [flatColumns, ...wanted.map((row) => row.map(guard))], source);
    const xml = (await t.get(`${path}&format=xml`)).text;
    assert.ok(xml.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n'));
    const { root, rows } = readXmlRows(xml);
    assert.equal([root, ...new Set(rows.map((row) => row.name))], ['stig', 'finding']);
    assert.equal(
      rows.map((row) => row.cells),
      wanted.map((row) => row.map((value, index) => [flatColumns[index], value])),
      source,
    );
  }
});

downloads('the bytes are the same, whatever the order in which the files came', async () => {
  const db = emptyCatalog();
  for (const file of readdirSync(shipped('stigs')).sort().reverse())
    await runImport(db, [shipped('stigs', file)]);
  const other = await testApp([], { db });
  const headers = { Authorization: `Bearer ${await t.token()}` };
  for (const format of 'json,cklb,csv,xml,ckl,xlsx,oscal'.split(',')) {
    const path = `/api/v1/stigs/harbor_linux_3/download?version=V1R1&format=${format}`;
    const [mine, theirs] = await Promise.all([t, other].map(({ app }) => app.request(path, { headers })));
    assert.equal([mine!.status, theirs!.status], [200, 200], format);
    assert.equal(await theirs!.bytes(), await mine!.bytes(), format);
  }
  db.close();
});

downloads('content type and file name of every format', async () => {
  const types = rowsOf(`
    cklb | application/json
    json | application/json
    csv | text/csv; charset=utf-8
    xml | application/xml; charset=utf-8
    ckl | application/xml; charset=utf-8
    xlsx | application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
  `);
  for (const { path, read } of cases.filter((_, index) => index % 8 === 0))
    for (const [format, type] of types) {
      const { headers } = await t.get(`${path}&format=${format}`, { method: 'HEAD' });
      assert.is(headers.get('Content-Type'), type);
      const name = `U_${read.id}_${versionString(read)}.${format}`;
      const plain = name.replace(/[^A-Za-z0-9._-]/g, '_');
      const disposition = `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`;
      assert.is(headers.get('Content-Disposition'), disposition);
    }
});

downloads(
  'cklb is the default, a format is taken in any case, and an older release by ?version=',
  async () => {
    const path = '/api/v1/stigs/harbor_linux_3/download';
    const plain = await t.get(path);
    assert.throws(() => readCklb(plain.text), /No target_data\.host_name found/, 'as documented');
    assert.is((await t.get(`${path}?format=CKLB`)).text, plain.text);
    const longest = await t.get(`${path}?hostName=${'h'.repeat(255)}`);
    assert.is(readCklb(longest.text).target.name, 'h'.repeat(255));
    const old = await t.get(`${path}?format=JSON&version=V1R1`);
    const newest = await t.get(`${path}?format=json`);
    assert.equal([old.json.version, newest.json.version], ['V1R1', 'V1R2']);
    assert.is(old.json.id, newest.json.id, 'the id is that of the STIG');
    assert.match(old.headers.get('Content-Disposition')!, /filename="U_Harbor_Linux_3_STIG_V1R1\.json"/);
  },
);

downloads('csv, xml and xlsx are narrowed as the page of the STIG is; a checklist never is', async () => {
  const path = '/api/v1/stigs/harbor_linux_3/download';
  const all = (await t.get('/api/v1/stigs/harbor_linux_3')).json.findings as Record<string, string>[];
  const { ruleIdent: cci, ruleVersion, severity } = all[3] as { [name: string]: string };
  const text = ruleVersion!.slice(-4);
  const cites = (row: Record<string, string>) => row.ruleIdents!.includes(cci!);
  const has = (row: Record<string, string>) => row.ruleVersion!.includes(text) && row.severity === severity;
  for (const [query, isWanted] of [
    ['severity=high,low', (row) => row.severity !== 'medium'],
    [`cci=${cci!.toLowerCase()}`, cites],
    [`search=${text}&severity=${severity}`, has],
    ['search=no-such-text', () => false],
    ['search=', () => true],
  ] as [string, (row: Record<string, string>) => boolean][]) {
    const [, ...rows] = readCsv((await t.get(`${path}?format=csv&${query}`)).text);
    const wanted = all.filter(isWanted).map(({ groupId }) => groupId);
    assert.equal(
      rows.map(([groupId]) => groupId),
      wanted,
      query,
    );
  }
  // A file of some of the rules says so in its name, in each format that can hold some of them.
  for (const format of ['csv', 'xml', 'xlsx'])
    for (const [query, ending] of [
      ['severity=high,low', '_severity-high-low'],
      [`cci=${cci!.toLowerCase()}&search=a%20b/%2E%2E`, `_cci-${cci}_search-a-b-..`],
      ['search=', ''],
    ]) {
      const { headers } = await t.get(`${path}?format=${format}&${query}`);
      const name = `filename="U_Harbor_Linux_3_STIG_V1R2${ending}.${format}"`;
      assert.match(headers.get('Content-Disposition')!, name);
    }
  for (const format of ['cklb', 'ckl', 'json', 'oscal']) {
    assert.is((await t.get(`${path}?format=${format}&search=`)).status, 200);
    for (const filter of ['severity=high', 'search=x', `cci=${cci}`]) {
      const { status, json } = await t.get(`${path}?format=${format}&${filter}`);
      assert.is(status, 400, `${format} ${filter}`);
      assert.match(json.error.message, `leave it out for ${format}`);
    }
  }
});

downloads.run();
