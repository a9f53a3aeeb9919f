// The signed rpm (rule D42.7): a key made here signs it, and rpm and dnf install it only with that signature.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { suite } from '../support/harness.ts';
import { makeRpmKey, output, rpmFile, systemRpm } from '../support/package.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const signed = suite('Package: signed');

/** A copy of the rpm that was made, in a folder of its own; with a key signed by it. */
function copyOf(name: string, key?: string): string {
  const file = join(scratchFolder(), name);
  copyFileSync(rpmFile, file);
  // The one that was made may be signed already.
  output('rpmsign', ['--delsign', file]);
  if (key !== undefined) output(join(packageRoot, 'packaging', 'sign.sh'), [file, key]);
  return file;
}

signed(
  'rpm and dnf install what the imported key signed; they refuse it unsigned, changed, or by another key',
  () => {
    const good = copyOf('good.rpm', makeRpmKey('Gapstone'));
    const changed = join(scratchFolder(), 'changed.rpm');
    const bytes = readFileSync(good);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(changed, bytes);
    const files = {
      unsigned: copyOf('unsigned.rpm'),
      other: copyOf('other.rpm', makeRpmKey('Another')),
      changed,
      good,
    };
    const key = join(good, '..', 'RPM-GPG-KEY-gapstone');
    assert.match(readFileSync(key, 'utf8'), /^-----BEGIN PGP PUBLIC KEY BLOCK-----$/m);
    const ways: Record<string, (root: string, file: string) => string[]> = {
      // As a host is set that trusts no package without a signature.
      rpm: (root, file) => [
        'rpm',
        '--root',
        root,
        '--define',
        '_pkgverify_level all',
        '--noscripts',
        '-i',
        file,
      ],
      dnf: (root, file) => [
        ...[
          'dnf',
          '-y',
          '-q',
          '-c',
          put(scratchFolder(), 'dnf.conf', '[main]\ngpgcheck=1\nlocalpkg_gpgcheck=1\nplugins=0\n'),
        ],
        ...[
          `--installroot=${root}`,
          '--releasever=9',
          '--setopt=reposdir=/nonexistent',
          '--setopt=tsflags=noscripts',
        ],
        ...[`--setopt=cachedir=${scratchFolder()}`, 'install', file],
      ],
    };
    const system = systemRpm();
    for (const [way, command] of Object.entries(ways)) {
      const root = scratchFolder();
      output('rpm', ['--root', root, '--nosignature', '--define', '_pkgverify_level none', '-i', system]);
      output('rpm', ['--root', root, '--import', key]);
      mkdirSync(join(root, 'tmp'), { recursive: true });
      for (const [name, file] of Object.entries(files)) {
        const [program, ...args] = command(root, file);
        const { status, stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8' });
        assert.is(status, name === 'good' ? 0 : 1, `${way} ${name}: ${stdout}${stderr}`);
        assert.is(existsSync(join(root, 'usr/bin/gapstone')), name === 'good', `${way} ${name}`);
      }
    }
  },
);

signed('what holds no private key is refused', () => {
  const file = copyOf('x.rpm');
  const { status, stderr } = spawnSync(join(packageRoot, 'packaging', 'sign.sh'), [file, rpmFile], {
    encoding: 'utf8',
  });
  assert.is.not(status, 0);
  assert.match(stderr, /no valid OpenPGP data found|holds no private OpenPGP key/);
});

signed.run();
