import * as assert from 'uvu/assert';
import { catalogDigest } from '../../src/db/digest.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { preparedCatalog } from '../support/prepared.ts';
import { killAll } from '../support/running.ts';
import { before, contentOf, over } from './support/catalog.ts';
import { createClient, pause } from './support/load.ts';
import { say } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';

// Threat I4: importers beside a server whose users write; two at once are in test/importers/kill.deep.test.ts.
const writers = suite('Writers at once');
writers.after(killAll);

writers(
  'imports beside a server whose users write: all that was acknowledged is there, and both go on',
  async () => {
    const served = await serveOver(before);
    const { port } = served.running;
    const taken: string[] = [];
    let refused = 0;
    let running = true;
    const users = Array.from({ length: 4 }, async (_, user) => {
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
        await pause(100);
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
    const expected = await preparedCatalog([...before, ...over], () => new Date(0));
    assert.is(contentOf(served.file), catalogDigest(expected));
    expected.close();
    say(`${taken.length} lists were made during ${over.length} imports, ${refused} writes were told to wait`);
  },
);

writers.run();
