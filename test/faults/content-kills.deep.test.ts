import { cpSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { killedAtEach } from '../support/killed.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { contentOf } from './support/catalog.ts';
import { createClient } from './support/load.ts';
import { say } from './support/profile.ts';

// Threat Y5: killed at each point of an exchange, either catalog is served, users' data is untouched, and the next call works.
const kills = suite('SIGKILL of apply and rollback');
kills.after(killAll);

const site = scratchFolder();
const good = async (folder: string, ...args: string[]) => {
  const { code, stdout, stderr } = await commandHere([...args, '--db', join(folder, 'g.db')], {
    cwd: folder,
  });
  assert.is(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
  return stdout.trim();
};
let bundle: string;
let digests: string[] = [];

kills.before(async () => {
  const key = sampleKey('depot');
  const more = put(scratchFolder(), 'more.xml', writeXccdf());
  const catalogs = [
    await sampleCatalog([[shipped('stigs')]]),
    await sampleCatalog([[shipped('stigs'), more]]),
  ];
  const built = await Promise.all(catalogs.map((each, index) => build(each, key, { sequence: index + 1 })));
  bundle = built[1]!.files[0]!;
  digests = built.map(({ manifest }) => manifest.digest);
  await good(site, 'content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  await good(site, 'content', 'apply', built[0]!.files[0]!);
});

for (const action of ['apply', 'rollback'])
  kills(`${action}: one catalog or the other, and the next call completes it`, async () => {
    const from = join(scratchFolder(), 's');
    cpSync(site, from, { recursive: true });
    if (action === 'rollback') await good(from, 'content', 'apply', bundle);
    const [old, next] = action === 'apply' ? digests : digests.toReversed();
    const args = ['content', action, ...(action === 'apply' ? [bundle] : [])];

    // A server with a user's list, which sees each kill: its site is put back in between by nothing but the commands.
    const folder = join(scratchFolder(), 's');
    cpSync(from, folder, { recursive: true });
    const token = await good(folder, 'token', 'issue', '--subject', 'ann');
    const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
    const client = createClient(running.port);
    const ask = async (method: string, path: string, body?: string) => {
      const answer = await client.ask(method, path, { Authorization: `Bearer ${token}` }, body);
      assert.ok(answer.status < 300, `${path} ${answer.status} ${answer.body}`);
      return JSON.parse(answer.body);
    };
    const served = async () => (await ask('GET', '/api/v1/catalog')).digest;
    const { id } = await ask('POST', '/api/v1/lists', '{"name":"kept"}');

    const seen = { old: 0, next: 0 };
    const killed = await killedAtEach(async (number) => {
      const at = number === 1 ? folder : join(scratchFolder(), 's');
      if (at !== folder) cpSync(from, at, { recursive: true });
      const judge = async () => {
        const found = contentOf(join(at, 'g.db'));
        assert.ok(found === old || found === next, `${number}: neither catalog`);
        seen[found === old ? 'old' : 'next']++;
        if (at === folder) assert.ok([old, next].includes(await served()));
        const again = await commandHere([...args, '--db', join(at, 'g.db')], { cwd: at });
        // What was done to its end says that it was.
        const isDone = found === next && /already|nothing/.test(again.stderr);
        assert.ok(again.code === 0 || isDone, `${number}: ${again.stderr}`);
        assert.is(contentOf(join(at, 'g.db')), next, String(number));
        if (at !== folder) await good(at, 'check', '--audit');
      };
      return { args: [...args, '--db', join(at, 'g.db')], judge };
    });
    say(
      `${action}: killed at ${killed} points, ${seen.old} times before and ${seen.next} times after the exchange`,
    );
    assert.ok(killed > 3 && seen.old > 0 && seen.next > 0);

    await until('it is served', async () => (await served()) === next);
    assert.equal(
      (await ask('GET', '/api/v1/lists')).lists.map((each: { id: string }) => each.id),
      [id],
    );
    client.close();
    assert.not.match(running.stdout(), /"level":"error"/);
    running.child.kill('SIGTERM');
    await running.ended;
    await good(folder, 'check', '--audit');
  });

kills.run();
