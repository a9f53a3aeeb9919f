import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import * as assert from 'uvu/assert';
import { listFiles } from '../../../importers/discover.ts';
import { headlessMarkdown } from '../../../importers/guidance/markdown.ts';
import { runImport } from '../../../importers/run.ts';
import { databaseChecks } from '../../../src/catalog/checks.ts';
import type { Database } from '../../../src/db/database.ts';
import { catalogDigest } from '../../../src/db/digest.ts';
import { suite, testIf } from '../../support/harness.ts';
import { emptyCatalog } from '../../support/prepared.ts';
import { reference, referenceData } from '../../support/reference.ts';
import { put, scratchFolder } from '../../support/scratch.ts';
import { makeZip } from '../../support/zip.ts';

const test = suite('Regulatory documents, in any order and any runs');
const onReal = testIf(referenceData, test);

/** The digest of a catalog whose documents are those that its sources state. */
function stateOf(db: Database): string {
  assert.equal(
    databaseChecks.flatMap((check) => (check.name === 'roles and documents' ? [...check.run(db)] : [])),
    [],
  );
  return catalogDigest(db);
}

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
