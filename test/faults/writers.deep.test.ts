import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { gapstone, withoutProgress } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { killAll } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';
import { before, contentOf, over } from './support/catalog.ts';
import { createClient } from './support/load.ts';
import { say, scaled } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';

// Threat I4: two importers at once, and importers beside a server whose users write.
const writers = suite('Writers at once');
writers.after(killAll);

const rounds = scaled(10, 2);
const work = scratchFolder();
const oldFile = join(work, 'old.db');
let newContent: string;

writers.before(async () => {
  assert.is((await gapstone(['import', ...before, '--db', oldFile])).code, 0);
  const file = join(work, 'new.db');
  copyFileSync(oldFile, file);
  assert.is((await gapstone(['import', ...over, '--db', file])).code, 0);
  newContent = contentOf(file);
});

writers(
  `two importers at once, ${rounds} times: both end, or one says that it is busy; one result`,
  async () => {
    let busy = 0;
    for (let round = 0; round < rounds; round++) {
      const file = join(work, `two-${round}.db`);
      copyFileSync(oldFile, file);
      // The second begins at another moment of the first each time.
      const runs = await Promise.all(
        [0, 1].map(async (index) => {
          await new Promise((resolve) => setTimeout(resolve, index * round * 100));
          return gapstone(['import', ...over, '--db', file]);
        }),
      );
      for (const { code, stderr } of runs) {
        if (code === 0) continue;
        assert.is(code, 1, stderr);
        assert.is(
          withoutProgress(stderr),
          'gapstone: the database is busy: another process is writing to it\n',
        );
        busy++;
      }
      assert.ok(runs.some((run) => run.code === 0));
      assert.is(contentOf(file), newContent, `round ${round}`);
    }
    say(`${busy} of ${2 * rounds} imports were told that the database is busy, the others waited`);
  },
);

writers(
  'imports beside a server whose users write: all that was acknowledged is there, and both go on',
  async () => {
    const served = await serveOver(before);
    const { port } = served.running;
    const taken: string[] = [];
    let refused = 0;
    let running = true;
    const users = Array.from({ length: 8 }, async (_, user) => {
      const client = createClient(port);
      for (let number = 0; running; number++) {
        const name = `${user}-${number}`;
        const body = JSON.stringify({ name });
        const answer = await client.ask('POST', '/api/v1/lists', served.authorization, body);
        if (answer.status === 201) {
          taken.push(name);
          const { id } = JSON.parse(answer.body);
          const entry = JSON.stringify({ slugs: ['harbor_linux_3'] });
          const added = await client.ask('POST', `/api/v1/lists/${id}/stigs`, served.authorization, entry);
          assert.ok(added.status === 200 || added.status === 503, added.body);
        } else {
          assert.is(answer.status, 503, answer.body);
          assert.ok(Number(answer.headers['retry-after']) > 0);
          refused++;
        }
        const read = await client.ask('GET', '/api/v1/stigs', served.authorization);
        assert.is(read.status, 200, read.body);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      client.close();
    });
    const failed = Promise.all(users).then(() => undefined);
    const imports = async () => {
      for (const path of over) {
        const { code, stderr } = await gapstone(['import', path, '--db', served.file]);
        assert.is(code, 0, stderr.slice(-300));
      }
      running = false;
    };
    await Promise.race([imports(), failed]);
    await failed;
    const client = createClient(port);
    const { body } = await client.ask('GET', '/api/v1/lists', served.authorization);
    const names = JSON.parse(body).lists.map((each: { name: string }) => each.name);
    assert.equal(names.sort(), taken.sort());
    client.close();
    await stopServed(served);
    assert.is(contentOf(served.file), newContent);
    say(`${taken.length} lists were made during ${over.length} imports, ${refused} writes were told to wait`);
  },
);

writers.run();
