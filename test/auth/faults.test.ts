import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { loadCertificates } from '../../src/auth/certificates.ts';
import { readPeople } from '../../src/auth/people.ts';
import { createLog } from '../../src/base/log.ts';
import { rejects, suite } from '../support/harness.ts';
import { authority } from '../support/pki.ts';
import { put, scratchFolder } from '../support/scratch.ts';

// Threat D6, rule D34.2: faults of files and locks beside the sessions.
const faults = suite('Faults beside sessions');

faults('a people file that cannot be read leaves the last good rows', async () => {
  const folder = scratchFolder();
  const file = put(folder, 'people.csv', 'subject,org,entitlements\nann@test.mil,red,occ\n');
  const tlsClientCa = put(folder, 'ca.pem', authority('Root').cert);
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));
  const settings = { tlsClientCa, tlsCrl: null, certSubject: 'upn' as const, people: file };
  const ways = await loadCertificates(settings, () => new Date(), log);
  rmSync(file);
  mkdirSync(file);
  for (const { paths, reload } of ways.followed(() => undefined)) if (paths.includes(file)) await reload();
  assert.ok(lines.some((line) => line.includes('people not reloaded')));
  // A folder, and a file whose reading fails.
  for (const bad of [folder, '/proc/self/mem', join(folder, 'none.csv')])
    await rejects(readPeople(bad), /^the people of .* cannot be read: /);
  assert.equal(ways.rightsOf('ann@test.mil'), { organization: 'red', entitlements: ['occ'] });
});

faults(
  'a people file in windows-1252 is read with a warning in the log, at the start and later',
  async () => {
    const folder = scratchFolder();
    const row = Buffer.from('subject,org,entitlements\nann,B\u00fcro,occ\n', 'latin1');
    const file = put(folder, 'people.csv', row);
    const tlsClientCa = put(folder, 'ca.pem', authority('Root').cert);
    const lines: string[] = [];
    const log = createLog('info', (line) => lines.push(line));
    const settings = { tlsClientCa, tlsCrl: null, certSubject: 'upn' as const, people: file };
    const ways = await loadCertificates(settings, () => new Date(), log);
    for (const { paths, reload } of ways.followed(() => undefined)) if (paths.includes(file)) await reload();
    const warned = lines.filter((line) => line.includes('"warn"') && line.includes('windows-1252'));
    assert.is(warned.length, 2);
    assert.is(ways.rightsOf('ann').organization, 'Büro');
  },
);

faults.run();
