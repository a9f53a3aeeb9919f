import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { suiteIf } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { referenceData, shipped } from '../support/reference.ts';

const test = suiteIf(referenceData, 'references: planted errors');

/** How automation content, reports and sheets write an id. */
const forms = [
  (id: string) => `- name: "${id} | web-01.example.com"\n  tags: [${id}, CVE-2021-44228]`,
  (id: string) => `control '${id}' do\n  tag gid: '${id}' # RFC 5280, v3.1.12-4\nend`,
  (id: string) => `<Rule id="${id}" severity="high" hash="a3f1-9b2c"></Rule>`,
  (id: string) => `"10.3.1.2","${id}","2026-11-23","550e8400-e29b-41d4-a716-446655440000"`,
  (id: string) => `| ${id} | KB5005565 | MS17-010 | ISO-27001 |`,
  (id: string) => `See ${id}, and the part numbers P-2000-X, AC-2000X, sha-256, utf-8, x86-64.`,
];

test?.('of 1,000 wrong ids of every kind, in six kinds of files, at least 995 have their state', async () => {
  const full = await testApp([...benchmarkPaths, shipped('controls'), shipped('mappings')]);
  const rows = full.db.sqlite
    .prepare<[], { rule_id: string; group_title: string }>(
      `SELECT f.rule_id, f.group_title FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id
        WHERE f.rule_id GLOB 'SV-[0-9]*r[0-9]*' AND f.group_title GLOB 'SRG-*-[0-9]*' ORDER BY f.rule_id LIMIT 300`,
    )
    .all();
  const planted: [id: string, state: string][] = [
    // A revision that is not the newest, however it came there.
    ...rows.map(({ rule_id: id }): [string, string] => [
      id.replace(/r(\d+)_rule$/, (_, revision) => `r${Number(revision) + 1}_rule`),
      'changed',
    ]),
    ...[
      ...rows.map(({ group_title: id }, at) => id.replace(/^(SRG-[A-Z]+)-\d+/, `$1-9${10_000 + at}`)),
      ...Array.from({ length: 100 }, (_, at) => [
        ...[`CCI-9${10_000 + at}`, `AC-2(${900 + at})`, `V-99${10_000 + at}`],
        `3.${1 + (at % 9)}.${60 + Math.floor(at / 9)}`,
      ]).flat(),
    ].map((id): [string, string] => [id, 'unknown']),
  ];
  assert.is(planted.length, 1000);
  const text = planted.map(([id], at) => forms[at % forms.length]!(id)).join('\n');
  const headers = { 'Content-Type': 'application/json' };
  const { json } = await full.send('POST', '/api/v1/references', { text }, { headers });
  full.db.close();
  const found = new Map<string, string>(
    json.references.map((each: { text: string; state: string }) => [each.text, each.state]),
  );
  const missed = planted.filter(([id, state]) => found.get(id) !== state);
  assert.ok(missed.length <= 5, JSON.stringify(missed.slice(0, 20)));
  const ids = new Set(planted.map(([id]) => id));
  const others = [...found.keys()].filter((id) => !ids.has(id));
  assert.equal(others, []);
});

test?.run();
