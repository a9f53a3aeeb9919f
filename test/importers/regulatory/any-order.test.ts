import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { discover, listFiles } from '../../../importers/discover.ts';
import { headlessMarkdown } from '../../../importers/guidance/markdown.ts';
import { parseGroup, parseSource } from '../../../importers/parse.ts';
import { runImport } from '../../../importers/run.ts';
import { sha256 } from '../../../src/base/ids.ts';
import { databaseChecks } from '../../../src/catalog/checks.ts';
import type { Database } from '../../../src/db/database.ts';
import { catalogDigest } from '../../../src/db/digest.ts';
import { feed, type ReadDocuments } from '../../support/any-order.ts';
import { suite, testIf } from '../../support/harness.ts';
import { emptyCatalog } from '../../support/prepared.ts';
import { reference, referenceData, shipped } from '../../support/reference.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { makeZip } from '../../support/zip.ts';

const test = suite('Regulatory documents, in any order and any runs');
const onReal = testIf(referenceData, test);

async function readDocuments(paths: string[]): Promise<ReadDocuments[]> {
  const read: ReadDocuments[] = [];
  for await (const source of discover(listFiles(paths))) {
    if (source.type !== 'bytes' && source.type !== 'group') continue;
    const { content } = source.type === 'group' ? parseGroup(source) : parseSource(source.bytes);
    if (content?.type === 'documents') read.push({ sha256: source.sha256, documents: content.documents });
  }
  return read;
}

/** Sources of a few ids, publishers and dates, some of several documents, some with one text. */
function made(): ReadDocuments[] {
  const { content } = parseSource(readFileSync(shipped('regulatory', 'harbor-basic-directive.json')));
  assert.ok(content?.type === 'documents');
  const { documents } = content;
  const of = (name: string, date: string | null, publisher: string, title: string) => ({
    ...documents[0]!,
    documentId: name,
    published: date,
    publisher,
    title,
  });
  const single = ['usability', 'introduction', 'usability-1'].flatMap((name) =>
    ['2020-01-01', '2021-01-01', null].flatMap((date) =>
      ['', 'NIST'].flatMap((publisher) =>
        ['one', 'two', 'one '].map((title) => [of(name, date, publisher, title.trim())]),
      ),
    ),
  );
  const several = single.flatMap(([first], index) =>
    index % 5 === 0 ? [[first!, of('appendix', index % 2 === 0 ? '2020-01-01' : null, '', 'three')]] : [],
  );
  return [...single, ...several].map((each, index) => ({ sha256: sha256(`made ${index}`), documents: each }));
}

/** The digest of a catalog whose documents are those that its sources state. */
function stateOf(db: Database): string {
  assert.equal(
    databaseChecks.flatMap((check) => (check.name === 'roles and documents' ? [...check.run(db)] : [])),
    [],
  );
  return catalogDigest(db);
}

function assertAnyOrder(all: ReadDocuments[], numRuns: number, seed: number): void {
  const scenario = fc.record({
    picked: fc.shuffledSubarray([...all.keys()], { minLength: 2, maxLength: 24 }),
    sizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 24, maxLength: 24 }),
  });
  fc.assert(
    fc.property(scenario, ({ picked, sizes }) => {
      const order = picked.map((index) => all[index]!);
      const rest = [...order];
      const runs = sizes.map((size) => rest.splice(0, size)).filter((run) => run.length > 0);
      const [split, once] = [emptyCatalog(), emptyCatalog()];
      feed(split, runs);
      const lines = feed(once, [[...order].sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1))]);
      assert.is(stateOf(split), stateOf(once));
      const imported = lines.filter((line) => line.outcome === 'imported');
      const counted = (name: string) => imported.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0);
      assert.equal(
        once.sqlite
          .prepare(
            `SELECT count(*), sum(summary_json ->> 'signpostCount'), sum(summary_json ->> 'actionableItemCount')
               FROM documents`,
          )
          .raw()
          .get(),
        ['documents', 'signposts', 'actionableItems'].map(counted),
      );
      assert.equal(
        lines.filter(({ outcome, reason }) => outcome === 'superseded' && reason === null),
        [],
      );
      for (const db of [split, once]) db.close();
    }),
    { numRuns, seed },
  );
}

test('200 random sets, orders and splits of made ones that share ids, dates and texts', () =>
  assertAnyOrder(made(), 200, 42));

onReal('the real ones, with texts of one title beside them', async () => {
  const real = await readDocuments([reference('regulatory')]);
  assert.is(real.length, 19);
  const changed = real.map(({ documents }, index) => ({
    sha256: sha256(`changed ${index}`),
    documents: documents.map((each) => ({
      ...each,
      text: `changed ${index}`,
      actionableItems: each.actionableItems.slice(1),
    })),
  }));
  assertAnyOrder([...real, ...changed], 40, 7);
});

test('a folder, a zip and single files in any mixture; two texts of one section both stay', async () => {
  const folder = scratchFolder();
  const part = (text: string) => ({
    'cover.md': '# Publication 63-9\n\nJune 2017\n',
    'sec10_usability.md': `<a name="u"></a>\n\n## 10 Usability\n\n${text}\n`,
    'sec2_terms.md': '## 2 Terms\n\nA term must be short.\n',
  });
  const [a, b] = [part('Labels must be plain.'), part('Labels must be large.')];
  for (const [name, files] of Object.entries({ a, b }))
    for (const [file, text] of Object.entries(files)) put(folder, `${name}/${file}`, text);
  const zip = (files: Record<string, string>) =>
    makeZip(Object.entries(files).map(([name, data]) => ({ name: `deep/${name}`, data })));
  const zips = [put(folder, 'a.zip', zip(a)), put(folder, 'b.zip', zip(b))];
  const filesOf = (name: string, files: Record<string, string>) =>
    Object.keys(files).map((file) => `${folder}/${name}/${file}`);
  const ways = [
    [[`${folder}/a`, `${folder}/b`]],
    [[`${folder}/b`], [zips[0]!]],
    [[...filesOf('b', b)].reverse(), filesOf('a', a)],
    [[zips[1]!, ...filesOf('a', a)]],
    [[zips[1]!], [zips[0]!], [`${folder}/a`]],
  ];
  const digests = new Set<string>();
  for (const runs of ways) {
    const db = emptyCatalog();
    for (const paths of runs) await runImport(db, paths);
    digests.add(stateOf(db));
    const served = db.sqlite
      .prepare<[], string>('SELECT record_json FROM documents')
      .pluck()
      .all()
      .join('\n');
    for (const text of ['plain', 'large']) assert.ok(served.includes(`Labels must be ${text}.`), text);
    db.close();
  }
  assert.is(digests.size, 1);
});

onReal('the parts of a publication outside of their folder are skipped', async () => {
  const folder = scratchFolder();
  const paths = listFiles([reference('regulatory', 'nist-800-63-3')]).map(({ path }, index) =>
    put(folder, `${index}/${basename(path)}`, readFileSync(path)),
  );
  const db = emptyCatalog();
  const { lines } = await runImport(db, paths);
  assert.is(lines.length, 37);
  for (const { source, outcome, reason } of lines)
    assert.ok(outcome === 'skipped' && reason!.includes(headlessMarkdown), basename(source));
  db.close();
});

test.run();
