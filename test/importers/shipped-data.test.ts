import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import {
  baselineNames,
  read8500,
  read80053,
  read800171,
  readBaseline,
  sortedBy,
} from '../support/control-oracle.ts';
import { assertSameList, shippedControls } from '../support/controls.ts';
import { controlsIn, readCcis } from '../support/crosswalk-oracle.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { reference, referenceData, shipped } from '../support/reference.ts';
import { rowsOf as cellsOf } from '../support/tables.ts';

type Row = Record<string, string>;

/** The rows of a shipped file, read with none of the importers' code. */
function rowsOf(folder: 'controls' | 'mappings', name: string): Row[] {
  return parse(readFileSync(shipped(folder, name)), { columns: true });
}

const controlFiles = readdirSync(shipped('controls')).sort();
const mappingFiles = readdirSync(shipped('mappings')).sort();

const data = suite('what a first start loads about controls');

data('they hold facts, no texts: no column and no cell for a statement, guidance or definition', () => {
  const texts = /^(statement|guidance|threat|resources|definition)$/;
  // The longest fact is a title; sentences of the publishers are longer and end in a full stop.
  for (const name of controlFiles)
    for (const row of rowsOf('controls', name))
      for (const [column, cell] of Object.entries(row)) {
        const where = `${name} ${row.identifier} ${column}`;
        assert.ok(!texts.test(column) && cell.length <= 130, where);
        assert.not.match(cell, /[.;:]\s*$|\n| (?:shall|must) |^The organization/, where);
      }
  for (const name of mappingFiles)
    for (const row of rowsOf('mappings', name))
      assert.ok(row.reference!.length <= 40, `${name} ${row.reference}`);
});

let db: Database;
data.before(async () => {
  db = emptyCatalog();
  const { summary } = await runImport(db, shippedControls);
  assert.equal([summary.sources, summary.imported, summary.rejected], [9, 9, 0]);
});
data.after(() => db.close());

const count = (sql: string) => db.sqlite.prepare(sql).pluck().get();

data('alone they give the whole crosswalk: 5,458 nodes, 4,904 edges, 362,912 paths', () => {
  assert.is(count('SELECT count(*) FROM crosswalk_nodes'), 5458);
  assert.is(count('SELECT count(*) FROM crosswalk_edges'), 4904);
  assert.is(count('SELECT count(*) FROM crosswalk_paths'), 362_912);
});

data('they give every catalog, with every text empty', () => {
  const counts = db.sqlite
    .prepare(
      `SELECT framework, version, count(*), sum(status = 'active') FROM controls GROUP BY framework, version ORDER BY 1, 2`,
    )
    .raw()
    .all();
  assert.equal(counts, [
    ['cci', '2025-01-23', 5137, 5046],
    ['dod-8500', 'DoDI 8500.2 (2003)', 157, 157],
    ['nist-800-171', 'Rev 2', 110, 110],
    ['nist-800-171', 'Rev 3', 130, 97],
    ['nist-800-53', 'Rev 4', 922, 826],
    ['nist-800-53', 'Rev 5.2.0', 1196, 1014],
  ]);
  assert.is(count("SELECT count(*) FROM controls WHERE statement <> ''"), 0);
  for (const text of db.sqlite.prepare('SELECT record_json FROM controls').pluck().all() as string[]) {
    const {
      identifier,
      statement,
      guidance = '',
      threat = '',
      resources = '',
      statementParts = [],
    } = JSON.parse(text);
    assert.equal([statement, guidance, threat, resources, statementParts], ['', '', '', '', []], identifier);
  }
});

/** What Releases 5.1.1 (November 2023) and 5.2.0 (August 2025) brought to the file of January 2022. */
const newControls = `
  IA-13     | Identity Providers and Authorization Servers           | Identification and Authentication
  IA-13(1)  | Protection of Cryptographic Keys                       | Identification and Authentication
  IA-13(2)  | Verification of Identity Assertions and Access Tokens  | Identification and Authentication
  IA-13(3)  | Token Management                                       | Identification and Authentication
  SA-15(13) | Logging Syntax                                         | System and Services Acquisition
  SA-24     | Design For Cyber Resiliency                            | System and Services Acquisition
  SI-2(7)   | Root Cause Analysis                                    | System and Information Integrity`;

data('800-53 is Release 5.2.0: its seven new controls are active and in no baseline', () => {
  const rows = rowsOf('controls', 'nist-800-53_rev5.csv');
  assert.equal([...new Set(rows.map((row) => row.version))], ['Rev 5.2.0']);
  for (const [identifier, title, family] of cellsOf(newControls)) {
    const { version, framework, ...facts } = rows.find((each) => each.identifier === identifier)!;
    assert.equal(facts, { identifier, title, family, status: 'active', withdrawnInto: '', baselines: '' });
  }
});

data('every end of a pair is named in some version of its catalog, or in none at all as published', () => {
  // SA-6(1), SA-7(3) and SC-9(1) of the DoD map, and the privacy appendix of Rev 4, are not in NIST's files.
  const unknown = db.sqlite
    .prepare(
      `SELECT DISTINCT to_identifier FROM mapping_facts AS f WHERE to_version <> 'Rev 3' AND NOT EXISTS
         (SELECT 1 FROM control_keys AS k WHERE k.framework = f.to_framework AND k.identifier = f.to_identifier)`,
    )
    .pluck()
    .all() as string[];
  for (const identifier of unknown)
    assert.ok(/^(AP|AR|DI|DM|IP|SE|TR|UL)-|^(SA-6\(1\)|SA-7\(3\)|SC-9\(1\))$/.test(identifier), identifier);
  assert.is(
    count(
      `SELECT count(*) FROM mapping_facts AS f WHERE NOT EXISTS
         (SELECT 1 FROM control_keys AS k WHERE k.framework = f.from_framework AND k.identifier = f.from_identifier)`,
    ),
    0,
  );
});

data.run();

const facts = suiteIf(referenceData, 'the shipped facts are those of the real files');
if (facts) {
  const joined = (list: string[]) => list.join(';');

  for (const revision of [4, 5] as const) {
    facts(`800-53 Rev ${revision}`, () => {
      const members = new Map(baselineNames(revision).map((name) => [name, readBaseline(revision, name)]));
      const expected = read80053(revision).map((each) => ({
        framework: 'nist-800-53',
        version: revision === 5 ? 'Rev 5.2.0' : 'Rev 4',
        identifier: each.identifier,
        title: each.title,
        family: each.family,
        status: each.withdrawn ? 'withdrawn' : 'active',
        withdrawnInto: joined(each.went),
        baselines: joined([...members.keys()].filter((name) => members.get(name)!.has(each.identifier))),
      }));
      const isNew = (row: Row) => cellsOf(newControls).some(([identifier]) => identifier === row.identifier);
      const rows = rowsOf('controls', `nist-800-53_rev${revision}.csv`);
      assert.is(rows.filter(isNew).length, revision === 5 ? 7 : 0);
      const cased = ({ title, ...row }: Row) => ({ ...row, title: title!.toLowerCase() });
      const former = rows.filter((row) => !isNew(row));
      assertSameList(former.map(cased), expected.map(cased), `Rev ${revision}`);
      // Later files write acronyms, and what follows a slash or a bracket, in capitals.
      const recased = former.filter((row, index) => row.title !== expected[index]!.title);
      assert.equal(
        recased.map(({ identifier }) => identifier),
        revision === 4
          ? []
          : 'AC-4(27) IA-8 IA-8(3) PL-4(1) SA-9(8) SC-13(1) SC-20 SC-21 SC-22 SR-2(1)'.split(' '),
      );
    });
  }

  facts('800-171 Rev 2', () => {
    const rows = rowsOf('controls', 'nist-800-171_rev2.csv');
    const oracle = read800171(2);
    assertSameList(
      rows.map((row) => [row.framework, row.version, row.identifier, row.family, row.requirementType]),
      oracle.map((each) => ['nist-800-171', 'Rev 2', each.identifier, each.family, each.type]),
      'Rev 2',
    );
    // Rev 2 itself prints no titles (D6.2); those of its machine-readable form may be shipped or left out.
    for (const [index, row] of rows.entries())
      assert.ok(['', oracle[index]!.title].includes(row.title ?? ''));
  });

  facts('800-171 Rev 3', () => {
    const expected = read800171(3).map((each) => ({
      framework: 'nist-800-171',
      version: 'Rev 3',
      identifier: each.identifier,
      title: each.title,
      family: each.family,
      status: each.withdrawn ? 'withdrawn' : 'active',
      withdrawnInto: joined(each.went),
    }));
    assertSameList(rowsOf('controls', 'nist-800-171_rev3.csv'), expected, 'Rev 3');
  });

  facts('8500.2', () => {
    const expected = read8500().map((each) => ({
      framework: 'dod-8500',
      version: 'DoDI 8500.2 (2003)',
      identifier: each.identifier,
      title: each.title,
      family: each.subjectArea,
      macLevels: joined(each.macLevels),
      confidentialityLevels: joined(each.confidentialityLevels),
      impactCode: each.impactCode,
    }));
    assertSameList(rowsOf('controls', 'dod-8500.csv'), expected, '8500.2');
  });

  facts('the CCI list: every item with its status and type', () => {
    const text = readFileSync(reference('cci-2025-01-23', 'U_CCI_List.xml'), 'utf8');
    const items = [...text.matchAll(/<cci_item id="([^"]+)">([\s\S]*?)<\/cci_item>/g)].map(
      ([, identifier, body]) => ({
        framework: 'cci',
        version: '2025-01-23',
        identifier: identifier!,
        status: /<status>\s*(\w+)/.exec(body!)![1]!,
        type: joined([...body!.matchAll(/<type>\s*(\w+)/g)].map((match) => match[1]!).sort()),
      }),
    );
    assert.is(items.length, 5137);
    const rows = rowsOf('controls', 'cci.csv').map((row) => ({
      ...row,
      type: joined(row.type!.split(';').sort()),
    }));
    assertSameList(
      rows,
      sortedBy(items, (each) => each.identifier),
      'CCI',
    );
  });

  facts('the CCI list: every reference by revision, each pair once', () => {
    const expected = new Set<string>();
    const counts: Record<string, number> = {};
    for (const cci of readCcis()) {
      for (const version of ['3', '4', '5'])
        if (cci.references.some((each) => each[0] === version)) counts[version] = (counts[version] ?? 0) + 1;
      for (const [version, index] of cci.references.filter((each) => each[0] !== '1'))
        for (const control of controlsIn(index))
          expected.add(['cci', '2025-01-23', cci.id, 'nist-800-53', `Rev ${version}`, control].join('|'));
    }
    assert.equal([counts['5'], counts['4'], counts['3']], [3836, 3001, 1678]);
    const rows = rowsOf('mappings', 'cci_to_nist-800-53.csv');
    const pairs = rows.map((row) => Object.values(row).slice(0, 6).join('|'));
    assert.is(new Set(pairs).size, pairs.length);
    assertSameList([...pairs].sort(), [...expected].sort(), 'references');
    for (const row of rows)
      assert.ok(controlsIn(row.reference!).includes(row.toIdentifier!), JSON.stringify(row));
  });

  facts('the pairs of 800-171 and of 8500.2', () => {
    const pairsOf = (name: string) =>
      rowsOf('mappings', name)
        .map((row) => Object.values(row).slice(0, 6).join('|'))
        .sort();
    const rev2 = readFileSync(reference('sp800-171', 'sp800-171r2_to_sp800-53r4.csv'), 'utf8')
      .trim()
      .split(/\r?\n/)
      .slice(1);
    const { relationships } = JSON.parse(
      readFileSync(reference('sp800-171', 'sp_800_171_3_0_0', 'framework.json'), 'utf8'),
    ).response.elements as { relationships: Record<string, string>[] };
    const rev3 = relationships.filter((each) => each.relationship_identifier === 'external_reference');
    assert.equal([rev2.length, rev3.length], [200, 157]);
    const requirements = [
      ...rev2.map((row) => `nist-800-171|Rev 2|${row.split(',')[0]}|nist-800-53|Rev 4|${row.split(',')[1]}`),
      ...rev3.map(
        (each) =>
          `nist-800-171|Rev 3|${each.source_element_identifier}|nist-800-53|Rev 5.1.1|${controlsIn(each.dest_element_identifier!)[0]}`,
      ),
    ];
    assertSameList(pairsOf('nist-800-171_to_nist-800-53.csv'), requirements.sort(), '800-171');
    const diacap = readFileSync(reference('dod-8500', 'DiacapToRmf.xml'), 'utf8');
    const controls = [...diacap.matchAll(/<Iac control="([^"]+)">([\s\S]*?)<\/Iac>/g)].flatMap(
      ([, iac, body]) =>
        [...body!.matchAll(/<NistControl revision="([34])">([^<]+)</g)].map(
          ([, revision, control]) =>
            `dod-8500|DoDI 8500.2 (2003)|${iac}|nist-800-53|Rev ${revision}|${controlsIn(control!)[0]}`,
        ),
    );
    assert.is(controls.length, 651);
    assertSameList(pairsOf('dod-8500_to_nist-800-53.csv'), controls.sort(), '8500.2');
  });

  facts.run();
}
