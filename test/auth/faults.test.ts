import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { silentAudit } from '../../src/audit/stream.ts';
import { loadCertificates, readPeople } from '../../src/auth/certificates.ts';
import { createSessions } from '../../src/auth/sessions.ts';
import { createLog, silentLog } from '../../src/base/log.ts';
import { readLargeTable } from '../../src/read/table.ts';
import { rejects, suite } from '../support/harness.ts';
import { holdLock } from '../support/lock.ts';
import { authority } from '../support/pki.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { openSite } from '../support/site.ts';

// Threat D6, rule D34.2: faults of files and locks beside the sessions.
const faults = suite('Faults beside sessions');

/** Ways to come in with a table of people, how the table is read again, and the lines of the log. */
async function waysFor(file: string) {
  const tlsClientCa = put(scratchFolder(), 'ca.pem', authority('Root').cert);
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  const settings = { tlsClientCa, tlsCrl: null, certSubject: 'upn' as const, people: file };
  const ways = await loadCertificates(settings, () => new Date(), log);
  const followed = ways.followed(() => undefined).find(({ paths }) => paths.includes(file))!;
  return { ways, lines, reload: async () => followed.reload() };
}

faults('a people file that cannot be read leaves the last good rows', async () => {
  const folder = scratchFolder();
  const file = put(folder, 'people.csv', 'subject,org,entitlements\nann@test.mil,red,occ\n');
  const { ways, reload } = await waysFor(file);
  rmSync(file);
  mkdirSync(file);
  await rejects(reload(), /^the people of .* cannot be read: /);
  // A folder, and a file whose reading fails.
  for (const bad of [folder, '/proc/self/mem', join(folder, 'none.csv')])
    await rejects(
      readPeople(bad, () => undefined),
      /^the people of .* cannot be read: /,
    );
  assert.equal(ways.rightsOf('ann@test.mil'), { organization: 'red', entitlements: ['occ'] });
});

faults('a people file in windows-1252 is read with a warning, at the start and later', async () => {
  const row = Buffer.from('subject,org,entitlements\nann,B\u00fcro,occ\n', 'latin1');
  const { ways, lines, reload } = await waysFor(put(scratchFolder(), 'people.csv', row));
  await reload();
  const warned = lines.filter((line) => line.includes('"warn"') && line.includes('windows-1252'));
  assert.is(warned.length, 2);
  assert.is(ways.rightsOf('ann').organization, 'B\u00fcro');
});

faults('a table that is read in pieces keeps characters outside the basic plane', async () => {
  const cell = `a${'\u{1f600}'.repeat(40_000)}`;
  await readLargeTable(cell, ({ cells }) => assert.ok(cells[0] === cell));
});

faults('a session ends, and a head is noted, while an import holds the lock of the catalog', async () => {
  const folder = scratchFolder();
  const db = await openSite(folder, [shipped('stigs')]);
  db.neverBlock();
  let now = new Date('2026-11-21T12:00:00Z');
  const options = { audit: silentAudit, keyId: () => '', idleMinutes: 15, certificates: null };
  const sessions = createSessions(db, () => now, silentLog, options);
  const user = { kind: 'user', subject: 'ann', email: null, organization: null, expiresAt: 2e9 } as const;
  const secret = await sessions.start({ ...user, entitlements: new Set() }, undefined);
  const count = () => db.sqlite.prepare('SELECT count(*) FROM sessions').pluck().get();
  now = new Date('2026-11-21T13:00:00Z');
  const freeUsers = holdLock(join(folder, 'g-users.db'));
  assert.is(await sessions.find(secret), null);
  assert.is(count(), 1, 'users’ data is locked');
  freeUsers();
  const free = holdLock(join(folder, 'g.db'));
  assert.is(await sessions.find(secret), null);
  assert.is(count(), 0);
  const write = () => db.sqlite.prepare('UPDATE audit_head SET seq = 7').run().changes;
  assert.is(db.writeNow(write), 1);
  assert.throws(
    () =>
      db.writeNow(() => {
        write();
        throw new Error('undone');
      }),
    /undone/,
  );
  free();
  db.close();
});

faults.run();
