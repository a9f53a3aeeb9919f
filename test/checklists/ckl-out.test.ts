import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { toCkl } from '../../src/catalog/stigs/ckl-writer.ts';
import { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';
import { readChecklist } from '../../src/checklists/read-checklist.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { readCklFile } from '../support/ckl-reader.ts';
import { writeCkl } from '../support/ckl-writer.ts';
import { suite } from '../support/harness.ts';
import { benchmarkFiles, benchmarkPaths } from '../support/real-files.ts';
import { hasReferenceData } from '../support/reference.ts';
import { assertError } from '../support/service.ts';
import { readCkl } from '../support/stig-manager.ts';
import { rowsOf } from '../support/tables.ts';
import { told } from '../support/told.ts';
import { noFormat } from '../support/words.ts';
import { joinTexts, type ReadRule, readBenchmark, versionString } from '../support/xccdf-reader.ts';

// Checklists in the form of STIG Viewer 2: every release there is against an independent reading of its file, and answers of every kind.
const ckl = suite('Checklists as ckl');

type Rule = Cklb['stigs'][number]['rules'][number];
const harbor = '/api/v1/stigs/harbor_linux_3/download';
let t: TestApp;

ckl.before(async () => {
  t = await testApp(benchmarkPaths);
});
ckl.after(() => t.db.close());

const withLineFeeds = (text: string) => text.replace(/\r\n?/g, '\n');

function expectedData(rule: ReadRule, stigRef: string): [string, string][] {
  const legacy = rule.legacyIds.length < 2 ? [...rule.legacyIds, '', ''].slice(0, 2) : rule.legacyIds;
  const data: [string, string][] = [
    ['Vuln_Num', rule.groupId],
    ['Severity', rule.severity],
    ['Group_Title', rule.groupTitle],
    ['Rule_ID', rule.ruleId],
    ['Rule_Ver', rule.version],
    ['Rule_Title', rule.title],
    ['Vuln_Discuss', rule.tags.VulnDiscussion],
    ['IA_Controls', rule.tags.IAControls],
    ['Check_Content', joinTexts(rule.checks.map((check) => check.content))],
    ['Fix_Text', joinTexts(rule.fixTexts)],
    ['False_Positives', rule.tags.FalsePositives],
    ['False_Negatives', rule.tags.FalseNegatives],
    ['Documentable', rule.tags.Documentable],
    ['Mitigations', rule.tags.Mitigations],
    ['Potential_Impact', rule.tags.PotentialImpacts],
    ['Third_Party_Tools', rule.tags.ThirdPartyTools],
    ['Mitigation_Control', rule.tags.MitigationControl],
    ['Responsibility', rule.tags.Responsibility],
    ['Security_Override_Guidance', rule.tags.SeverityOverrideGuidance],
    ['Check_Content_Ref', rule.checks[0]?.href == null ? '' : (rule.checks[0].name ?? '')],
    ['Weight', rule.weight],
    ['Class', 'Unclass'],
    ['STIGRef', stigRef],
    ['TargetKey', rule.identifiers[0] ?? ''],
    ...legacy.map((id): [string, string] => ['LEGACY_ID', id]),
    ...rule.ccis.map((id): [string, string] => ['CCI_REF', id]),
  ];
  return data.map(([name, text]) => [name, withLineFeeds(text)]);
}

ckl(
  'every fourth release: each element of STIG Viewer 2 in its order, with what the benchmark says',
  async () => {
    const { stigs } = (await t.get('/api/v1/stigs?limit=150')).json;
    const slugs = new Map<string, string>();
    for (const { slug } of stigs) {
      const record = (await t.get(`/api/v1/stigs/${slug}/versions`)).json;
      for (const { version } of record.versions) {
        const { json } = await t.get(`/api/v1/stigs/${slug}/download?format=json&version=${version}`);
        slugs.set(`${json.benchmarkId} ${version} ${json.groups.length}`, slug);
      }
    }
    let seen = 0;
    for (const [index, { source, text: file }] of (await benchmarkFiles()).entries()) {
      if (index % 4 > 0) continue;
      const read = readBenchmark(file);
      const version = versionString(read);
      const slug = slugs.get(`${read.id} ${version} ${read.rules.length}`);
      assert.ok(slug, source);
      const host = 'hostName=web-01&ipAddress=10.0.0.1&macAddress=00:11:22:33:44:55&fqdn=web-01.x.test';
      const path = `/api/v1/stigs/${slug}/download?version=${version}&${host}&role=member%20SERVER`;
      const { status, text } = await t.get(`${path}&format=ckl`);
      assert.is(status, 200);
      const cklb = (await t.get(path)).json as Cklb;
      const stig = cklb.stigs[0]!;
      const releaseInfo = stig.release_info;
      const key = read.rules[0]!.identifiers[0] ?? '';

      // No blank at the end, no element in its short form: STIG Viewer writes neither.
      assert.match(
        text,
        /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<!--Gapstone :: [\d.]+-->\n<CHECKLIST>\n\t<ASSET>\n/,
      );
      assert.ok(text.endsWith('</CHECKLIST>'));
      assert.not.ok(/\r|\/>/.test(text), source);
      const found = readCklFile(text);
      assert.is(
        found.asset.map((field) => field.join(' ')).join('; '),
        `ROLE Member Server; ASSET_TYPE Computing; MARKING ; HOST_NAME web-01; HOST_IP 10.0.0.1; HOST_MAC 00:11:22:33:44:55; ` +
          `HOST_FQDN web-01.x.test; TARGET_COMMENT ; TECH_AREA ; TARGET_KEY ${key}; WEB_OR_DATABASE false; WEB_DB_SITE ; WEB_DB_INSTANCE `,
      );
      assert.is(found.stigs.length, 1);
      const { info, rules } = found.stigs[0]!;
      assert.equal(info, [
        ['version', read.version],
        ['classification', 'UNCLASSIFIED'],
        ['customname', null],
        ['stigid', read.id],
        ['description', withLineFeeds(read.description)],
        ['filename', `U_${read.id}_${version}_Manual-xccdf.xml`],
        ['releaseinfo', releaseInfo],
        ['title', read.title],
        ['uuid', stig.uuid],
        ['notice', 'terms-of-use'],
        ['source', 'STIG.DOD.MIL'],
      ]);
      assert.is(rules.length, read.rules.length);
      const stigRef = `${read.title} :: Version ${read.version}, ${releaseInfo}`;
      for (const [index, rule] of read.rules.entries()) {
        const { data, answer } = rules[index]!;
        assert.equal(data.splice(24, 1), [['STIG_UUID', stig.uuid]]);
        assert.equal(data, expectedData(rule, stigRef), `${source}, rule ${index + 1}`);
        const blank =
          'STATUS,Not_Reviewed;FINDING_DETAILS,;COMMENTS,;SEVERITY_OVERRIDE,;SEVERITY_JUSTIFICATION,';
        assert.is(answer.join(';'), blank);
      }

      // STIG Manager reads it without loss.
      const { target, checklists } = readCkl(text);
      assert.equal(
        [target.name, target.ip, target.mac, target.fqdn],
        ['web-01', '10.0.0.1', '00:11:22:33:44:55', 'web-01.x.test'],
      );
      assert.equal([checklists[0]!.benchmarkId, checklists[0]!.revisionStr], [read.id, version], source);
      assert.equal(told(checklists[0]!.reviews, 'ruleId'), told(read.rules, 'ruleId'));

      // And so do we: what a ckl has a field for is what the cklb says.
      const [ours] = readChecklist(text).checklist.stigs;
      const shared = ({ group_id, rule_id, severity, rule_version, rule_title, ...rest }: Rule) => ({
        ...{ group_id, rule_id, severity, rule_version, rule_title, ccis: rest.ccis },
        ...{ legacy: rest.legacy_ids, weight: rest.weight },
        ...{ check: withLineFeeds(rest.check_content), fix: withLineFeeds(rest.fix_text) },
      });
      assert.equal(ours!.rules.map(shared), stig.rules.map(shared));
      seen++;
    }
    assert.is(seen, hasReferenceData ? 12 : 1);
  },
);

const marks = '< > & ]]> " \' \t \n \r \r\n \u0000 \u001b \ufffe \ud800 x &amp; <!-- -->'.split(' ');
const letter = fc.oneof(fc.constantFrom(' ', ...marks), fc.string({ unit: 'grapheme', maxLength: 5 }));
const text = fc.array(letter, { maxLength: 12 }).map((parts) => parts.join(''));
/** What XML can hold of a text. */
const heldByXml = (value: string) =>
  withLineFeeds(value.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, ''));

ckl('answers of every kind: what goes in comes out, in our reader and another', async () => {
  const blank = (await t.get(`${harbor}?hostName=h`)).json as Cklb;
  const statuses = ['not_reviewed', 'not_applicable', 'open', 'not_a_finding'] as const;
  const results = ['Not_Reviewed', 'Not_Applicable', 'Open', 'NotAFinding'];
  const answer = fc.record({
    status: fc.constantFrom(...statuses),
    finding_details: text,
    comments: text,
    severity: fc.option(fc.record({ severity: fc.constantFrom('high', 'medium', 'low'), reason: text })),
  });
  const target = fc.record({ host_name: text, fqdn: text, comments: text, classification: fc.option(text) });
  fc.assert(
    fc.property(fc.array(answer, { minLength: 14, maxLength: 14 }), target, (answers, host) => {
      const given = structuredClone(blank);
      Object.assign(given.target_data, host);
      given.stigs.push({ ...structuredClone(blank.stigs[0]!), stig_id: 'Second_STIG' });
      for (const stig of given.stigs)
        for (const [index, rule] of stig.rules.entries()) {
          const { severity, ...said } = answers[index]!;
          Object.assign(rule, said, { overrides: severity === null ? {} : { severity: { ...severity } } });
        }
      const written = toCkl(given as Cklb, []);
      const read = readCklFile(written);
      const field = new Map(read.asset);
      assert.is(field.get('HOST_NAME'), heldByXml(host.host_name));
      assert.is(field.get('HOST_FQDN'), heldByXml(host.fqdn));
      assert.is(field.get('TARGET_COMMENT'), heldByXml(host.comments));
      assert.is(field.get('MARKING'), heldByXml(host.classification ?? ''));
      assert.equal(
        read.stigs.map(({ info }) => info.find(([name]) => name === 'stigid')![1]),
        ['Harbor_Linux_3_STIG', 'Second_STIG'],
      );
      for (const { rules } of read.stigs)
        assert.equal(
          rules.map((rule) => rule.answer),
          answers.map(({ status, finding_details, comments, severity }) => [
            ['STATUS', results[statuses.indexOf(status)]],
            ['FINDING_DETAILS', heldByXml(finding_details)],
            ['COMMENTS', heldByXml(comments)],
            ['SEVERITY_OVERRIDE', severity?.severity ?? ''],
            ['SEVERITY_JUSTIFICATION', heldByXml(severity?.reason ?? '')],
          ]),
        );
      // Through our reader it says the same as the cklb, as far as XML can.
      const own = JSON.parse(JSON.stringify(given), (_, value) =>
        typeof value === 'string' ? heldByXml(value) : value,
      ) as Cklb;
      const saidBy = ({ stigs }: Pick<Cklb, 'stigs'>) => stigs.map(({ rules }) => rules.map(said));
      for (const xml of [written, writeCkl(own)])
        assert.equal(saidBy(readChecklist(xml).checklist as Cklb), saidBy(own));
    }),
    { numRuns: 25, seed: 20261122 },
  );
});

const said = ({ status, finding_details, comments, overrides }: Rule) => ({
  ...{ status, finding_details, comments, overrides },
});

ckl('a host: named in the checklist and in the name of the file, an id of its own', async () => {
  const query = 'hostName=Web%2001&ipAddress=10.1.2.3&macAddress=AA:BB&fqdn=web.x.test&role=WORKSTATION';
  const { host_name, ip_address, mac_address, fqdn, role } = Cklb.parse(
    (await t.get(`${harbor}?${query}`)).json,
  ).target_data;
  const host = [host_name, ip_address, mac_address, fqdn, role];
  assert.equal(host, ['Web 01', '10.1.2.3', 'AA:BB', 'web.x.test', 'Workstation']);
  const nameOf = async (more: string) => {
    const { headers } = await t.get(`${harbor}?${more}`);
    return decodeURIComponent(/filename\*=UTF-8''(.*)$/.exec(headers.get('Content-Disposition')!)![1]!);
  };
  for (const [asked, name] of rowsOf(`
    hostName=Web%2001 | Web 01_harbor_linux_3_V1R2.cklb
    format=ckl&hostName=h&version=V1R1 | h_harbor_linux_3_V1R1.ckl
    format=ckl | U_Harbor_Linux_3_STIG_V1R2.ckl
    ipAddress=10.0.0.1 | U_Harbor_Linux_3_STIG_V1R2.cklb
    hostName=../../etc | _._.._etc_harbor_linux_3_V1R2.cklb
    hostName=C:%5Cx | C__x_harbor_linux_3_V1R2.cklb
    hostName=%3Dcmd | _cmd_harbor_linux_3_V1R2.cklb
    hostName=a%0D%0Ab | a__b_harbor_linux_3_V1R2.cklb
    hostName=%20 | U_Harbor_Linux_3_STIG_V1R2.cklb
  `))
    assert.is(await nameOf(asked!), name);
  const ids = new Set<string>();
  const queries = ['', 'hostName=a', 'fqdn=a', 'ipAddress=a', 'macAddress=a', 'role=Workstation'];
  for (const more of [...queries, 'hostName=a&fqdn=a', 'hostName=a&ipAddress=a', 'role=None'])
    ids.add((await t.get(`${harbor}?${more}`)).json.id);
  assert.is(ids.size, 8, 'None is what no role is');
  const { id } = (await t.get(`${harbor}?hostName=web-01%20%22x%22`)).json;
  assert.is(id, '0cad16ab-26b4-5d01-b0a3-404fa574d16c');
});

ckl(
  'upgrade gives a ckl as a text that says what the cklb does, of a ckl too; its title is lost',
  async () => {
    const old = (await t.get(`${harbor}?version=V1R1&hostName=web01`)).json as Cklb;
    Object.assign(old.stigs[0]!.rules[0]!, { status: 'open', finding_details: 'a < b\n&c', comments: 'ü' });
    const upgrade = (more: object) =>
      t.send('POST', '/api/v1/checklists/upgrade', { slug: 'harbor_linux_3', checklist: old, ...more });
    const asCklb = (await upgrade({})).json;
    const { checklist, report } = (await upgrade({ format: 'CKL' })).json;
    assert.equal(report, asCklb.report);
    const again = (await upgrade({ checklist, format: 'ckl' })).json.checklist;
    for (const text of [checklist, again]) {
      const { stigs, target_data } = readChecklist(text).checklist;
      assert.equal(stigs[0]!.rules.map(said), asCklb.checklist.stigs[0].rules.map(said));
      assert.equal(target_data, asCklb.checklist.target_data);
      assert.is(readCkl(text).checklists[0]!.stats.fail, 1);
    }
    assert.equal(readCklFile(again).stigs[0]!.info[4], readCklFile(checklist).stigs[0]!.info[4]);
    // One that somebody gave is said to be lost, one that we made is not.
    const titled = await upgrade({ checklist: { ...old, title: 'Mine' }, format: 'ckl' });
    const lost = { kind: 'field', reason: 'a ckl has no field for this', path: 'title', value: 'Mine' };
    assert.equal(titled.json.report.notCarried.at(-1), lost);
    for (const format of ['xml', '', 7, null, ['ckl']])
      assertError(await upgrade({ format }), 400, 'BAD_REQUEST', noFormat('cklb', 'ckl'));
  },
);

ckl('a marking stands in MARKING, and nowhere that a reader minds', async () => {
  const marked = await testApp([benchmarkPaths[0]!], { banner: 'CUI // <TEST>' });
  const { text, headers } = await marked.get(`${harbor}?format=ckl&hostName=h`);
  assert.equal(readCklFile(text).asset[2], ['MARKING', 'CUI // <TEST>']);
  assert.is(text.split('\n')[1]!.replace(/[\d.]+/, 'V'), '<!--Gapstone :: V-->');
  assert.is(headers.get('X-Classification'), 'CUI // <TEST>');
  marked.db.close();
});

ckl.run();
