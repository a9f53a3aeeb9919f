import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite, testIf } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { killedAtEach, killPoints } from '../support/killed.ts';
import { asNobody, nobody, nobodyRunsProgram } from '../support/nobody.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { contentOf } from './support/catalog.ts';
import { createClient } from './support/load.ts';
import { say } from './support/profile.ts';

// Threat Y5: killed at each point of an exchange, either catalog is served, users' data is untouched, and the next call works.
const kills = suite('SIGKILL of apply and rollback');
kills.after(killAll);

const key = sampleKey('depot');
let bundles: string[] = [];
let digests: string[] = [];

kills.before(async () => {
  const more = put(scratchFolder(), 'more.xml', writeXccdf());
  const catalogs = [
    await sampleCatalog([[shipped('stigs')]]),
    await sampleCatalog([[shipped('stigs'), more]]),
  ];
  const built = await Promise.all(catalogs.map((each, index) => build(each, key, { sequence: index + 1 })));
  bundles = built.map(({ file }) => file);
  digests = built.map(({ manifest }) => manifest.digest);
});

/** A site with the first bundle, and a server with a user's list, which sees all kills. */
async function servedSite(isReadOnly: boolean) {
  const [catalog, home] = [join(scratchFolder(), 'catalog'), scratchFolder()];
  mkdirSync(catalog);
  const file = join(catalog, 'g.db');
  const files = ['--db', file, '--users-db', join(home, 'u.db')];
  const env = {
    GAPSTONE_AUDIT_FILE: join(home, 'audit.jsonl'),
    GAPSTONE_KEY_FILE: join(home, 'key.json'),
  };
  const run = (...args: string[]) => commandHere([...args, ...files], { cwd: home, env });
  const good = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    assert.is(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  await good('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  await good('content', 'apply', bundles[0]!);
  const token = await good('token', 'issue', '--subject', 'ann');
  if (isReadOnly) {
    for (const [path, mode] of [
      [file, 0o644],
      [catalog, 0o755],
      [join(catalog, '..'), 0o755],
    ] as const)
      chmodSync(path, mode);
    for (const name of ['', 'u.db', 'audit.jsonl', 'audit.jsonl.lock', 'audit.jsonl.head', 'key.json'])
      chownIfThere(join(home, name));
  }
  const under = isReadOnly ? asNobody : [];
  const running = await startServer(home, ['serve', '--port', '0', ...files], env, under);
  const client = createClient(running.port);
  const ask = async (method: string, path: string, body?: string) => {
    const answer = await client.ask(method, path, { Authorization: `Bearer ${token}` }, body);
    assert.ok(answer.status < 300, `${path} ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body);
  };
  const { id } = await ask('POST', '/api/v1/lists', '{"name":"kept"}');
  return {
    ...{ file, files, home, env, run, good },
    served: async () => (await ask('GET', '/api/v1/catalog')).digest,
    async stop() {
      const { lists } = await ask('GET', '/api/v1/lists');
      assert.equal(
        lists.map((each: { id: string }) => each.id),
        [id],
      );
      client.close();
      assert.not.match(running.stdout(), /"level":"error"/);
      running.child.kill('SIGTERM');
      await running.ended;
      await good('check', '--audit');
    },
  };
}

function chownIfThere(path: string): void {
  try {
    chownSync(path, nobody, nobody);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
  }
}

async function killAtEachPoint(isReadOnly: boolean): Promise<void> {
  const { file, files, home, env, run, good, served, stop } = await servedSite(isReadOnly);
  const [apply, rollback] = [
    ['content', 'apply', bundles[1]!],
    ['content', 'rollback'],
  ];
  for (const [action, back, old, next] of [
    [apply, rollback, digests[0], digests[1]],
    [rollback, apply, digests[1], digests[0]],
  ] as const) {
    const seen = { old: 0, next: 0 };
    const killed = await killedAtEach(
      async (number) => {
        if (contentOf(file) !== old) await good(...back);
        const judge = async () => {
          const found = await served();
          assert.ok(found === old || found === next, `${number}: neither catalog`);
          seen[found === old ? 'old' : 'next']++;
          await good('check');
          assert.is(contentOf(file), found);
          const again = await run(...action);
          // What was done to its end says that it was.
          const isDone = found === next && /already|nothing/.test(again.stderr);
          assert.ok(again.code === 0 || isDone, `${number}: ${again.stderr}`);
          assert.is(await served(), next, `${number}: the next answer is of the new catalog`);
          const parts = readdirSync(dirname(file)).filter((name) => name.includes('.part-'));
          assert.equal(parts, [], `${number}: what the killed call left is removed`);
        };
        return { args: [...action, ...files], judge };
      },
      { cwd: home, env, points: isReadOnly ? ['backup'] : killPoints },
    );
    say(
      `${action[1]}: killed at ${killed} points, ${seen.old} times before and ${seen.next} times after the exchange`,
    );
    assert.ok(killed > 3 && seen.old > 0 && seen.next > 0);
  }
  await stop();
}

kills('one catalog or the other, and the next call completes it', () => killAtEachPoint(false));

testIf(await nobodyRunsProgram(), kills)('the same, where the server may write nothing beside it', () =>
  killAtEachPoint(true),
);

kills('restore: a server that uses the files is in the way, and both stay', async () => {
  const { good, run, served, stop } = await servedSite(false);
  await good('backup', 'b.zip');
  await good('content', 'apply', bundles[1]!);
  const { code, stderr } = await run('restore', 'b.zip');
  assert.is(code, 1);
  assert.match(stderr, /is in use: first stop the server/);
  assert.is(await served(), digests[1]);
  await stop();
});

kills.run();
