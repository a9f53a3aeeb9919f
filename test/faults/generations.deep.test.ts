import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { testApp } from '../support/app.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { random } from '../support/hostile/seed.ts';
import { shipped } from '../support/reference.ts';
import { killAll, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { releases } from './support/catalog.ts';
import { createClient, pause } from './support/load.ts';
import { say, scaled } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';

// Threat I5: while many read, the next releases are imported; every answer is of one generation.
const generations = suite('Reading while imports commit');

const clients = scaled(200, 10);
const imports = scaled(10, 2);
/** Each client waits so many milliseconds between two requests. */
const thinkTime = 250;
const pageSize = 25;

generations.after(killAll);

generations(
  `${clients} clients page through a STIG while its next ${imports} releases are imported`,
  async () => {
    const { slug, releases: all } = releases(imports + 1);
    const folder = scratchFolder();
    const files = all.map(({ version, text }) => put(folder, `${version}.xml`, text));
    const controls = `/api/v1/stigs/${slug}/controls`;
    const hash = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

    // What each release says, page by page, from a catalog at rest that retains them all.
    const t = await testApp();
    await runImport(t.db, files);
    const pages = Math.ceil(all[0]!.findings / pageSize);
    const expected = new Map<string, string>();
    for (const { version, findings } of all) {
      for (let page = 1; page <= pages; page++) {
        const { json } = await t.get(`${controls}?page=${page}&limit=${pageSize}&version=${version}`);
        assert.is(json.stig.findingCount, findings, `${version} was made as it says`);
        assert.is(json.pagination.total, findings);
        expected.set(`${version} ${page}`, hash(json));
      }
    }
    t.db.close();

    const served = await serveOver([shipped('stigs'), files[0]!]);
    const { port } = served.running;
    const order = new Map(all.map(({ version }, index) => [version, index]));
    const seen = new Set<string>();
    let answers = 0;
    let running = true;
    const readers = Array.from({ length: clients }, async (_, number) => {
      const client = createClient(port);
      let newest = 0;
      await pause((thinkTime * number) / clients);
      for (let turn = number; running; turn++) {
        const page = (turn % pages) + 1;
        const whole = turn % 10 === 0;
        const path = whole ? `/api/v1/stigs/${slug}` : `${controls}?page=${page}&limit=${pageSize}`;
        const answer = await client.ask('GET', path, served.authorization);
        answers++;
        assert.is(answer.status, 200, `${path}: ${answer.body.slice(0, 300)}`);
        const body = JSON.parse(answer.body);
        const { version, findingCount } = whole ? body : body.stig;
        const release = all[order.get(version) ?? -1]!;
        assert.is(findingCount, release.findings, `${path}: ${version}`);
        if (whole) assert.is(body.findings.length, release.findings, `${path}: ${version}`);
        else assert.is(hash(body), expected.get(`${version} ${page}`), `${path}: not the page of ${version}`);
        assert.ok(order.get(version)! >= newest, `${version} after ${all[newest]!.version}`);
        newest = order.get(version)!;
        seen.add(version);
        await pause(thinkTime * (0.75 + random() / 2));
      }
      client.close();
    });
    const failed = Promise.all(readers).then(() => undefined);

    const work = async () => {
      await until('answers at rest', () => answers > clients);
      for (const [index, file] of files.slice(1).entries()) {
        const { code, stderr } = await gapstone(['import', file, '--db', served.file]);
        assert.is(code, 0, stderr.slice(-500));
        await until('the release is seen', () => seen.size === index + 2);
      }
      running = false;
    };
    await Promise.race([work(), failed]);
    await failed;
    say(`${answers} answers, ${seen.size} releases were seen`);
    assert.is(seen.size, imports + 1, 'every release was served');
    await stopServed(served);
  },
);

generations.run();
