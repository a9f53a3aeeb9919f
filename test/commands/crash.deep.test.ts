import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { putCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// Threat O2: a fault that nobody catches ends the process at once; it does not limp on, and starts again.
const crash = suite('Faults that nobody catches');
crash.after(killAll);

const faults = {
  'an exception': "throw new Error('fault hook')",
  'a rejection': "Promise.reject(new Error('fault hook'))",
  'no memory': 'const all = []; for (;;) all.push(new Array(1e6).fill(all.length))',
};

crash('an exception, a rejection and the end of memory end the server, which starts again', async () => {
  const folder = scratchFolder();
  await putCatalog(join(folder, 'g.db'), [shipped('stigs')]);
  const args = ['serve', '--port', '0', '--db', 'g.db'];
  for (const [name, fault] of Object.entries(faults)) {
    const hook = `data:text/javascript,process.on('SIGUSR2', () => { ${encodeURIComponent(fault)} })`;
    const options = { NODE_OPTIONS: `--max-old-space-size=100 --import="${hook.replaceAll(' ', '%20')}"` };
    const running = await startServer(folder, args, options);
    assert.is((await fetch(`${running.url}/readyz`)).status, 200);
    running.child.kill('SIGUSR2');
    const ended = await running.ended;
    assert.ok(ended.code !== 0, `${name}: ${JSON.stringify(ended)}`);
    const said = running.stderr() + running.stdout();
    assert.match(said, name === 'no memory' ? /heap|memory/i : /fault hook/, name);
  }
  const again = await startServer(folder, args);
  assert.is((await fetch(`${again.url}/readyz`)).status, 200);
  again.child.kill('SIGTERM');
  assert.equal(await again.ended, { code: 0, signal: null });
  const db = openCatalog(join(folder, 'g.db'));
  assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
  db.close();
});

crash.run();
