import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import * as assert from 'uvu/assert';
import { type TestApp, testApp } from '../support/app.ts';
import { read80053 } from '../support/control-oracle.ts';
import { sharedControls } from '../support/controls.ts';
import { controlsIn, readCcis } from '../support/crosswalk-oracle.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { reference, referenceData } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { rowsOf } from '../support/tables.ts';
import { makeZip } from '../support/zip.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers with and without evidence
type Json = any;

async function explain(t: TestApp, query: Record<string, string>): Promise<Json> {
  const answer = await t.get(
    `/api/v1/crosswalk/resolve?${new URLSearchParams({ explain: 'true', ...query })}`,
  );
  assert.is(answer.status, 200, answer.text.slice(0, 300));
  return answer.json;
}

/** The reason why there is no path; the paths must be empty. */
async function whyNot(t: TestApp, query: Record<string, string>): Promise<Json> {
  const { paths, reason } = await explain(t, query);
  assert.equal(paths, [], JSON.stringify(query));
  assert.ok(reason, JSON.stringify(query));
  assert.ok(reason.message.length > 10 && reason.message.length < 300, reason.message);
  return reason;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const small = suite('crosswalk: explain, on a small catalog');

/** A catalog in which everything is known: three controls, a site's own framework, one pair between them. */
const controls = `framework,version,identifier,title,family,status,withdrawnInto
nist-800-53,Rev 5.1.1,AC-1,Lanterns,Access Control,active,
nist-800-53,Rev 5.1.1,AC-2,Bells,Access Control,active,
nist-800-53,Rev 5.1.1,AC-3,Gates,Access Control,withdrawn,AC-1;AC-2
nist-800-53,Rev 5.1.1,AC-4,Anchors,Access Control,active,
`;
const harbor = `framework,version,identifier,title
harbor,2026,H-1,Keep the lanterns
harbor,2026,H-2,Ring the bells
harbor,2026,H-3,Close the gates
`;
const pairs = `fromFramework,fromVersion,fromIdentifier,toFramework,toVersion,toIdentifier,reference
harbor,2026,H-1,nist-800-53,Rev 5,AC-1,chapter 3
harbor,2026,H-2,nist-800-53,Rev 5,AC-1,
harbor,2026,H-3,nist-800-53,Rev 4,AC-3,chapter 9
`;

async function smallApp(...texts: string[]): Promise<TestApp> {
  const folder = scratchFolder();
  return testApp(texts.map((text, index) => put(folder, `${'abcd'[index]}.csv`, text)));
}

let s: TestApp;
small.before(async () => {
  // Another source states the first pair again.
  const again = pairs.replace('chapter 3', 'chapter 4').replace(/harbor,2026,H-[23].*\n/g, '');
  s = await smallApp(controls, harbor, pairs, again);
});
small.after(() => s.db.close());

small('without explain there is neither evidence nor reason', async () => {
  for (const explained of ['false', 'FALSE']) {
    const found = await explain(s, { from: 'harbor:H-1', to: 'nist-800-53', explain: explained });
    assert.equal(Object.keys(found), ['from', 'to', 'paths']);
    assert.equal(Object.keys(found.paths[0].controls[1]), ['framework', 'identifier', 'status']);
    const none = await explain(s, { from: 'harbor:X', to: 'nist-800-53', explain: explained });
    assert.equal(Object.keys(none).sort(), ['from', 'paths', 'to', 'unknown']);
  }
});

small(
  'a step names each file with hash, edition, row or reference, both versions and the time of import',
  async () => {
    const { paths, reason } = await explain(s, { from: 'harbor:H-1', to: 'harbor', explain: 'True' });
    assert.equal([paths.length, reason], [2, undefined], 'to H-2, and to H-3 by its successor');
    const stated = (identifier: string, reference: string, text = pairs, source = 'c.csv') => ({
      ...{ source, sha256: sha256(Buffer.from(text)), kind: 'mappings-csv', edition: '', reference },
      importedAt: '2026-11-21T12:00:00.000Z',
      from: { framework: 'harbor', version: '2026', identifier },
      to: { framework: 'nist-800-53', version: 'Rev 5', identifier: 'AC-1' },
    });
    const again = pairs.replace('chapter 3', 'chapter 4').replace(/harbor,2026,H-[23].*\n/g, '');
    const both = [stated('H-1', 'chapter 3'), stated('H-1', 'chapter 4', again, 'd.csv')];
    assert.equal(paths[0].controls, [
      { framework: 'harbor', identifier: 'H-1', status: 'auto' },
      { framework: 'nist-800-53', identifier: 'AC-1', status: 'auto', evidence: both },
      { framework: 'harbor', identifier: 'H-2', status: 'auto', evidence: [stated('H-2', 'row 3')] },
    ]);
    // A step to the successor of a withdrawn control shows the pair as it was stated.
    const followed = (await explain(s, { from: 'harbor:H-3', to: 'nist-800-53' })).paths.map((path: Json) => {
      const { identifier, evidence } = path.controls[1];
      return [identifier, evidence[0].to.version, evidence[0].to.identifier, evidence[0].reference];
    });
    assert.equal(followed, [
      ['AC-1', 'Rev 4', 'AC-3', 'chapter 9'],
      ['AC-2', 'Rev 4', 'AC-3', 'chapter 9'],
    ]);
  },
);

small('a member of an archive keeps its place in it, no folder of the machine is told', async () => {
  const folder = scratchFolder();
  const zip = put(folder, 'deep/site.zip', makeZip([{ name: 'in/pairs.csv', data: Buffer.from(pairs) }]));
  const t = await testApp([put(folder, 'a.csv', controls), put(folder, 'b.csv', harbor), zip]);
  const { paths } = await explain(t, { from: 'harbor:H-1', to: 'nist-800-53' });
  const [evidence] = paths[0].controls[1].evidence;
  assert.equal([evidence.source, evidence.sha256], ['site.zip!/in/pairs.csv', sha256(Buffer.from(pairs))]);
  t.db.close();
});

small(
  'why there is no path: nothing imported, only one side, unknown, withdrawn, filtered, too far, no mapping',
  async () => {
    for (const [texts, missing] of [
      [[], 'catalog of nist-800-53'],
      [[controls], 'catalog of harbor'],
      [[harbor], 'catalog of nist-800-53'],
      [[controls, harbor], 'mapping between nist-800-53 and harbor'],
    ] as const) {
      const t = await smallApp(...texts);
      const { code, message } = await whyNot(t, { from: 'nist-800-53:AC-1', to: 'harbor' });
      assert.equal([code, message], ['not-imported', `No ${missing} is imported`]);
      t.db.close();
    }
    for (const [from, to, more, code] of rowsOf(`
    nist-800-53:AC-1 | cci | | not-imported
    zeppelin:1 | harbor | | not-imported
    nist-800-53:AC-1 | __proto__ | | not-imported
    nist-800-53:AC-1 | ${'x'.repeat(100)} | | not-imported
    harbor:H-9 | nist-800-53 | | unknown-control
    nist-800-53:AC-1x | harbor | | unknown-control
    harbor:H-1 | nist-800-53 | version=1999 | unknown-version
    harbor:H-1 | nist-800-53 | status=verified | filtered-by-status
    harbor:H-1 | harbor | maxHops=1 | beyond-max-hops
    nist-800-53:AC-4 | harbor | | no-mapping
    nist-800-53:ac-3 | harbor | | withdrawn
  `) as [string, string, string, string][]) {
      const { incorporatedInto, ...reason } = await whyNot(s, {
        from,
        to,
        ...Object.fromEntries(new URLSearchParams(more)),
      });
      const successors = code === 'withdrawn' ? ['AC-1', 'AC-2'] : undefined;
      assert.equal([reason.code, incorporatedInto], [code, successors], `${from} ${to} ${more}`);
      if (to.length > 64) assert.is(reason.message, `No catalog of ${'x'.repeat(64)} is imported`);
    }
  },
);

small(
  'a mapping that makes no edge, or not for the version asked for, is not said to be missing',
  async () => {
    const gone = `framework,version,identifier,status,withdrawnInto
nist-800-53,Rev 4,AC-7,active,
nist-800-53,Rev 5.1.1,AC-1,active,
nist-800-53,Rev 5.1.1,AC-5,withdrawn,
cci,2022-03-09,CCI-1,draft,
cci,2022-03-09,CCI-2,draft,
cci,2022-03-09,CCI-3,draft,
`;
    const rows = `fromFramework,fromVersion,fromIdentifier,toFramework,toVersion,toIdentifier,reference
cci,2022-03-09,CCI-1,nist-800-53,Rev 4,AC-5,AC-5 a
cci,2022-03-09,CCI-1,nist-800-53,Rev 3,AC-1,AC-1
cci,2022-03-09,CCI-1,nist-800-53,Rev 4,AP-1,AP-1
cci,2022-03-09,CCI-1,nist-800-53,Rev 3,AP-2,AP-2
cci,2022-03-09,CCI-2,nist-800-53,Rev 4,AC-1,AC-1
`;
    const t = await smallApp(gone, rows);
    const unusable = 'AC-5 of Rev 4 (withdrawn), AP-1 of Rev 4 (unknown), AC-1 of Rev 3, ...';
    for (const [from, to, code, message, version] of rowsOf(`
    cci:1 | nist-800-53 | unknown-control | cci:1 is not in an imported catalog
    cci:CCI-1 | nist-800-53 | no-mapping | The sources map cci:CCI-000001, but no mapping can be used: ${unusable}
    cci:CCI-1 | cci | no-mapping | The sources map cci:CCI-000001, but no mapping can be used: ${unusable}
    cci:CCI-3 | nist-800-53 | no-mapping | No imported source maps cci:CCI-000003 to nist-800-53
    nist-800-53:AC-1 | cci | no-mapping | The mappings of nist-800-53:AC-1 in version "5" do not reach cci. Without the version there are paths | 5
  `) as [string, string, string, string, string?][])
      assert.equal(
        Object.values(await whyNot(t, { from, to, ...(version && { version }) })),
        [code, message],
        from,
      );
    t.db.close();
  },
);

small.run();

const real = suiteIf(referenceData, 'crosswalk: explain, on the real files');
if (real) {
  let t: TestApp;
  real.before(async () => {
    t = await sharedControls();
  });

  const files = [
    ['cci-2025-01-23', 'U_CCI_List.xml'],
    ['sp800-171', 'sp800-171r2_to_sp800-53r4.csv'],
    ['sp800-171', 'sp_800_171_3_0_0', 'framework.json'],
    ['dod-8500', 'DiacapToRmf.xml'],
  ].map((path) => {
    const file = reference(...path);
    return { name: basename(file), sha256: sha256(readFileSync(file)) };
  });
  const cciList = files[0]!;
  const indexes = new Map(readCcis().map((cci) => [cci.id, cci.references]));

  real('every step of real paths carries evidence that the files bear out', async () => {
    const questions = rowsOf(`
      nist-800-53:AC-2 | nist-800-171
      nist-800-53:SC-13 | dod-8500
      nist-800-171:3.1.1 | cci
      nist-800-171:03.15.01 | nist-800-53
      dod-8500:IAIA-1 | nist-800-171
      dod-8500:VIIR-1 | nist-800-53
      cci:CCI-000015 | nist-800-53
      cci:CCI-002523 | nist-800-53
      cci:CCI-000366 | dod-8500
    `);
    const withdrawn = new Map(read80053(5).map((each) => [each.identifier, each.withdrawn]));
    const kinds = new Set<string>();
    let followed = 0;
    for (const [from, to] of questions as [string, string][]) {
      const plain = await explain(t, { from, to, explain: 'false' });
      const { paths } = await explain(t, { from, to });
      assert.ok(paths.length > 0, from);
      const without = paths.map((path: Json) => ({
        ...path,
        controls: path.controls.map(({ evidence: _, ...step }: Json) => step),
      }));
      assert.equal(without, plain.paths, 'explaining changes no path');
      for (const { controls } of paths) {
        assert.not.ok('evidence' in controls[0]);
        for (const [index, step] of controls.slice(1).entries()) {
          const ends = [controls[index], step].map((each: Json) => `${each.framework}:${each.identifier}`);
          assert.ok(step.evidence.length > 0, ends.join(' '));
          for (const evidence of step.evidence) {
            const file = files.find((each) => each.name === evidence.source);
            assert.is(evidence.sha256, file?.sha256, evidence.source);
            assert.is(evidence.importedAt, '2026-11-21T12:00:00.000Z');
            kinds.add(evidence.kind);
            const stated = [evidence.from, evidence.to].map(
              (each: Json) => `${each.framework}:${each.identifier}`,
            );
            assert.ok(ends.includes(stated[0]!), 'the pair starts at an end of the step');
            if (!ends.includes(stated[1]!)) {
              followed++;
              assert.is(withdrawn.get(evidence.to.identifier), true, 'the other end was withdrawn');
            }
            assertStated(evidence);
          }
          const direct = step.evidence.filter((each: Json) =>
            ends.includes(`${each.to.framework}:${each.to.identifier}`),
          );
          if (direct.length === 0) assert.is(step.status, 'auto', 'only what is followed is never verified');
        }
      }
    }
    assert.equal([...kinds].sort(), ['cci-list', 'cprt', 'diacap-map', 'mappings-csv']);
    assert.ok(followed > 0);
  });

  /** That the file holds what the evidence says. */
  function assertStated({ kind, from, to, reference: where, edition, source }: Json): void {
    if (kind === 'cci-list') {
      assert.equal([source, from.version, edition], [cciList.name, '2025-01-23', '2025-01-23']);
      const references = indexes
        .get(from.identifier)!
        .map(([version, index]) => [`Rev ${version}`, index.trim()]);
      assert.ok(
        references.some(
          ([version, index]) => version === to.version && index!.replace(/\s+/g, ' ') === where,
        ),
        `${from.identifier} ${to.version} ${where}`,
      );
      assert.ok(controlsIn(where).includes(to.identifier));
    } else if (kind === 'diacap-map') {
      assert.equal([from.version, to.version, where], ['DoDI 8500.2 (2003)', 'Rev 4', to.identifier]);
    } else if (kind === 'cprt') {
      assert.equal([from.version, to.version, edition], ['Rev 3', 'Rev 5.1.1', '3.0.0']);
      assert.equal(controlsIn(where), [to.identifier]);
    } else {
      assert.equal([kind, from.version, to.version], ['mappings-csv', 'Rev 2', 'Rev 4']);
      const rows = readFileSync(reference('sp800-171', source), 'utf8').split(/\r?\n/);
      const row = Number(/^row (\d+)$/.exec(where)![1]);
      assert.is(rows[row - 1], `${from.identifier},${to.identifier}`);
    }
  }

  real('under a pin the first step shows what is stated for that version', async () => {
    const questions = rowsOf(`
      nist-800-53:AC-2 | Rev 4 | cci | Rev 4
      nist-800-53:AC-2(10) | 4 | cci | Rev 4
      nist-800-53:AC-2 | Rev 3 | cci | Rev 3
      nist-800-53:AC-2 | Rev 5 | cci | Rev 5
      nist-800-53:AC-2 | Rev 4 | nist-800-171 | Rev 4
      cci:CCI-000015 | 2016-06-27 | nist-800-53 | 2016-06-27
    `) as [string, string, string, string][];
    for (const [from, version, to, stated] of questions) {
      const framework = from.split(':')[0];
      const { paths } = await explain(t, { from, to, version, maxHops: '1' });
      assert.ok(paths.length > 0, `${from} at ${version}`);
      for (const path of paths) {
        const { evidence } = path.controls[1];
        const labels = evidence.flatMap((each: Json) =>
          [each.from, each.to].filter((end) => end.framework === framework).map((end) => end.version),
        );
        assert.equal(
          [...new Set(labels)],
          [stated],
          `${from} at ${version} -> ${path.controls[1].identifier}`,
        );
      }
    }
  });

  real.run();
}
