// The package at work on a system that has glibc and nothing else, unpacked from the tar and from the rpm.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { suite } from '../support/harness.ts';
import {
  glibcAlone,
  output,
  packageName,
  rpmFile,
  runUnder,
  serveUnder,
  stopAll,
  unpackRpm,
  unpackTar,
} from '../support/package.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { makeZip } from '../support/zip.ts';

const installed = suite('Package: installed');
installed.after(stopAll);

/** The library that is carried in: a zip of the sample STIGs. */
const library = makeZip(
  readdirSync(shipped('stigs')).map((name) => ({ name, data: readFileSync(join(shipped('stigs'), name)) })),
);

const ways = {
  tar: {
    program: `/opt/${packageName}/gapstone`,
    data: '/opt/gapstone-data',
    unpack: (root: string) => unpackTar(join(root, 'opt')),
  },
  rpm: { program: '/usr/bin/gapstone', data: '/var/lib/gapstone', unpack: unpackRpm },
};

for (const [name, { program, data, unpack }] of Object.entries(ways))
  installed(`${name}: first start, import, backup, check and stop where there is glibc alone`, async () => {
    const root = glibcAlone();
    unpack(root);
    put(root, 'in/U_SRG-STIG_Library_July_2026.zip', library);
    mkdirSync(join(root, 'out'));
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = runUnder(root, [program, ...args]);
      assert.is(status, 0, `${args[0]}: ${stderr}`);
      return stdout + stderr;
    };
    const start = [program, 'start', '--port', '0', '--no-token'];
    const first = await serveUnder(root, start);
    const own = join(root, data);
    assert.ok(existsSync(join(own, 'gapstone.db')) && existsSync(join(own, 'gapstone-users.db')));
    const imported = run('import', '/in/U_SRG-STIG_Library_July_2026.zip');
    assert.match(imported, /^\d+ sources in .* 0 rejected/m);
    const found = await fetch(`${first.url}/api/v1/crosswalk/resolve?from=nist-800-53:AC-2&to=nist-800-171`);
    assert.is(found.status, 200);
    assert.match(await (await fetch(first.url)).text(), /<h1/);
    run('backup', '/out/gapstone.zip');
    assert.match(run('check'), /\ndigest: [0-9a-f]{64}\n$/);
    assert.is(await first.stop(), 0);

    const second = await serveUnder(root, start);
    assert.is(await second.stop(), 0);
    run('restore', '/out/gapstone.zip');
    assert.match(run('check', '--upgrade', data), /nothing to migrate\n.*nothing to migrate\n$/);
    output('sha256sum', ['--quiet', '-c', 'gapstone.zip.sha256'], join(root, 'out'));
  });

installed('the rpm asks for glibc 2.34, and leaves data and settings when it is removed', () => {
  assert.match(
    output('rpm', ['-qp', '--requires', '--nosignature', rpmFile]),
    'libc.so.6(GLIBC_2.34)(64bit)\n',
  );
  assert.match(output('rpm', ['-qp', '--scripts', '--nosignature', rpmFile]), 'useradd -r -g gapstone');
  const root = scratchFolder();
  const rpm = (...args: string[]) => output('rpm', ['--root', root, '--nosignature', '--noscripts', ...args]);
  rpm('--nodeps', '-i', rpmFile);
  assert.ok(existsSync(join(root, 'usr', 'bin', 'gapstone')));
  writeFileSync(join(root, 'var/lib/gapstone/gapstone.db'), 'data');
  writeFileSync(join(root, 'etc/gapstone/gapstone.env'), 'GAPSTONE_PORT=8443\n');
  rpm('-e', 'gapstone');
  assert.not.ok(existsSync(join(root, 'usr', 'lib', 'gapstone')));
  assert.is(readFileSync(join(root, 'var/lib/gapstone/gapstone.db'), 'utf8'), 'data');
  assert.is(readFileSync(join(root, 'etc/gapstone/gapstone.env.rpmsave'), 'utf8'), 'GAPSTONE_PORT=8443\n');
});

installed.run();
