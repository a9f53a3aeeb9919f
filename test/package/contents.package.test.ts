// What is in the package, and what it asks of a system.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import { suite } from '../support/harness.ts';
import {
  binariesBelow,
  filesBelow,
  made,
  output,
  packageName,
  rpmFile,
  tarFile,
  unpackRpm,
  unpackTar,
} from '../support/package.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const contents = suite('Package: contents');

const home = unpackTar(scratchFolder());
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
const binaries = ['bin/node', 'node_modules/better-sqlite3/prebuilds/linux-x64.node'];
/** The newest versions of symbols that RHEL 9 has (glibc 2.34, GCC 11). */
const newest: Record<string, string> = { GLIBC: '2.34', GLIBCXX: '3.4.29', CXXABI: '1.3.13', GCC: '11.0' };

/** The lines of docs/tar.md that prove a package, run as they stand there. */
function documented(line: string, cwd: string): number | null {
  assert.match(
    readFileSync(join(packageRoot, 'docs', 'tar.md'), 'utf8').replaceAll('\\\n', ''),
    `\n${line}\n`,
  );
  return spawnSync('bash', ['-c', line], { cwd }).status;
}

contents('the same commit gives the same bytes', () => {
  const folder = scratchFolder();
  const tar = join(folder, 'again.tar');
  output(process.execPath, [join(packageRoot, 'packaging', 'build.mjs'), '--tar', tar]);
  const unpacked = join(folder, 'first.tar');
  spawnSync('bash', ['-c', 'xz -dc "$0" > "$1"', tarFile, unpacked]);
  assert.is(sha256(tar), sha256(unpacked));
});

contents('the rpm holds the files of the tar, byte for byte', () => {
  const root = scratchFolder();
  unpackRpm(root);
  const installed = join(root, 'usr', 'lib', 'gapstone');
  assert.equal(filesBelow(installed), filesBelow(home));
  for (const name of filesBelow(home))
    assert.is(sha256(join(installed, name)), sha256(join(home, name)), name);
  // The documents are a link to those of the tree.
  assert.equal(
    filesBelow(root).filter((name) => !/^usr\/(lib|share\/doc)\/gapstone\//.test(name)),
    [
      'etc/gapstone/gapstone.env',
      'usr/lib/systemd/system/gapstone-backup.service',
      'usr/lib/systemd/system/gapstone-backup.timer',
      'usr/lib/systemd/system/gapstone-tidy.service',
      'usr/lib/systemd/system/gapstone-tidy.timer',
      'usr/lib/systemd/system/gapstone.service',
      'usr/lib/sysusers.d/gapstone.conf',
    ],
  );
});

contents('no binary asks for more than RHEL 9 has with libstdc++ and libgcc', () => {
  assert.equal(binariesBelow(home), binaries);
  const system = /^(lib(c|m|dl|pthread|gcc_s|stdc\+\+)|ld-linux-x86-64)\.so\.\d$/;
  for (const name of binaries) {
    const file = join(home, name);
    for (const [, library] of output('readelf', ['-dW', file]).matchAll(/\(NEEDED\).*\[(.*)\]/g))
      assert.match(library!, system, name);
    const symbols = output('nm', ['-D', '--with-symbol-versions', '--undefined-only', file]);
    const versioned = [...symbols.matchAll(/@([A-Z]+)_([\d.]+)$/gm)];
    assert.ok(versioned.length > 0, name);
    for (const [symbol, kind, version] of versioned)
      assert.ok(isAtMost(version!, newest[kind!]!), `${name} needs ${symbol}`);
  }
});

const isAtMost = (version: string, other: string) =>
  version.localeCompare(other, 'en', { numeric: true }) <= 0;

contents('the bill of materials names every binary and every module that is inside, and nothing else', () => {
  interface Part {
    type: string;
    name: string;
    version: string;
    purl: string;
    hashes?: { alg: string; content: string }[];
  }
  const bill = JSON.parse(readFileSync(join(home, 'dist', 'sbom.cdx.json'), 'utf8')) as {
    components: Part[];
  };
  const npm = bill.components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
  const inside = JSON.parse(readFileSync(join(packageRoot, 'dist', 'packages.json'), 'utf8')) as string[];
  assert.equal(
    npm.map(({ name }) => name).sort(),
    inside.map((path) => path.split('node_modules/').at(-1)).sort(),
  );
  const hashes = bill.components.flatMap(({ hashes }) =>
    (hashes ?? []).filter(({ alg }) => alg === 'SHA-256').map(({ content }) => content),
  );
  assert.equal(
    hashes.sort(),
    binariesBelow(home)
      .map((name) => sha256(join(home, name)))
      .sort(),
  );
  const version = (name: string) => bill.components.find((part) => part.name === name)!.version;
  assert.is(`v${version('node')}\n`, output(join(home, 'bin', 'node'), ['-v']));
  assert.match(output(join(home, 'gapstone'), ['--version']), `\nsqlite ${version('sqlite')}\n`);
});

contents('a package that was tampered with is refused by the documented lines', () => {
  const folder = scratchFolder();
  for (const name of readdirSync(made)) cpSync(join(made, name), join(folder, name));
  const check = 'sha256sum --strict -c SHA256SUMS';
  assert.is(documented(check, folder), 0);
  const bytes = readFileSync(join(folder, `${packageName}.tar.xz`));
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(join(folder, `${packageName}.tar.xz`), bytes);
  assert.is(documented(check, folder), 1);

  const unpacked = unpackTar(join(scratchFolder(), 'inside'));
  const inside = 'sha256sum --quiet --strict -c SHA256SUMS';
  assert.is(documented(inside, unpacked), 0);
  const listed = readFileSync(join(unpacked, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  assert.equal(
    listed.map((line) => line.slice(66)),
    filesBelow(unpacked).filter((name) => name !== 'SHA256SUMS'),
  );
  writeFileSync(join(unpacked, 'data', 'README.md'), 'other');
  assert.is.not(documented(inside, unpacked), 0);
});

contents('its hashes are signed and verified with openssl, as documented', () => {
  const folder = scratchFolder();
  put(folder, 'SHA256SUMS', readFileSync(join(made, 'SHA256SUMS')));
  output(join(home, 'gapstone'), ['content', 'keygen', '--out', join(folder, 'content-key')], folder);
  const sign = ['dgst', '-sha384', '-sign', 'content-key', '-out', 'SHA256SUMS.sig', 'SHA256SUMS'];
  output('openssl', sign, folder);
  const verify = 'openssl dgst -sha384 -verify content-key.pub -signature SHA256SUMS.sig SHA256SUMS';
  assert.is(documented(verify, folder), 0);
  writeFileSync(
    join(folder, 'SHA256SUMS'),
    readFileSync(join(folder, 'SHA256SUMS'), 'utf8').replace(/^./, (digit) => (digit === 'f' ? '0' : 'f')),
  );
  assert.is.not(documented(verify, folder), 0);
});

contents(
  'each unit is rated 2.0 or better, timers are off until they are enabled, and the user is made',
  () => {
    for (const name of ['gapstone', 'gapstone-backup', 'gapstone-tidy']) {
      const unit = join(home, 'share', `${name}.service`);
      // A host that follows its STIG has no user namespaces, and systemd 252 then starts no unit that wants one.
      assert.not.match(readFileSync(unit, 'utf8'), /^(PrivateUsers|DynamicUser|EnvironmentFile)=/m);
      const rated = output('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]);
      const exposure = /Overall exposure level for .*\.service: (\d+\.\d+)/.exec(rated)![1]!;
      process.stdout.write(`${name}: exposure ${exposure}\n`);
      assert.ok(Number(exposure) <= 2, exposure);
    }
    for (const name of ['gapstone-backup', 'gapstone-tidy']) {
      assert.match(readFileSync(join(home, 'share', `${name}.timer`), 'utf8'), /^WantedBy=timers\.target$/m);
      const scheduled = /^OnCalendar=(.+)$/m.exec(
        readFileSync(join(home, 'share', `${name}.timer`), 'utf8'),
      )![1]!;
      assert.match(output('systemd-analyze', ['calendar', scheduled]), /Next elapse/);
    }
    const root = scratchFolder();
    mkdirSync(join(root, 'etc'));
    output('systemd-sysusers', [`--root=${root}`, join(home, 'share', 'gapstone.sysusers')]);
    assert.match(readFileSync(join(root, 'etc', 'passwd'), 'utf8'), /^gapstone:.*:\/var\/lib\/gapstone:/m);
  },
);

contents('the man page and the completion know every command and option', () => {
  const page = readFileSync(join(home, 'share', 'gapstone.1'), 'utf8').replaceAll('\\-', '-');
  const program = join(home, 'gapstone');
  const namesIn = (help: string) =>
    [...(/\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(help)?.[1] ?? '').matchAll(/^ {2}([a-z]\S*)/gm)]
      .map((match) => match[1]!)
      .filter((name) => name !== 'help');
  const names = namesIn(output(program, ['--help']));
  assert.is(names.length, 17);
  assert.equal(
    complete([''])
      .filter((word) => !word.startsWith('-'))
      .sort(),
    [...names, 'help', 'version'].sort(),
  );
  const look = (words: string[]) => {
    const help = output(program, [...words, '--help']);
    assert.match(page, `\n.SS ${words.join(' ')}\n`);
    for (const option of new Set(help.match(/(?<=^ {2}(?:-h, )?)--[a-z-]+/gm))) {
      assert.match(page, option);
      assert.ok(complete([...words, option]).includes(option), `${words.join(' ')} ${option}`);
    }
    for (const name of namesIn(help)) look([...words, name]);
  };
  for (const name of names) look([name]);
  assert.equal(complete(['content', 'roll']), ['rollback']);
});

/** What bash offers after these words, the last one unfinished. */
function complete(words: string[]): string[] {
  const script = `source '${join(home, 'share', 'gapstone.bash')}'; COMP_WORDS=(gapstone "$@"); COMP_CWORD=$#; _gapstone; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return output('bash', ['--norc', '-c', script, 'bash', ...words], scratchFolder())
    .split('\n')
    .filter(Boolean);
}

contents('it runs from any folder, through links, and says what it is', () => {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'a'));
  symlinkSync(join(home, 'gapstone'), join(folder, 'a', 'link'));
  symlinkSync('a/link', join(folder, 'gapstone'));
  const commit = output('git', ['rev-parse', 'HEAD'], packageRoot);
  const run = spawnSync('sh', ['-c', 'gapstone --version'], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env.PATH}` },
  });
  assert.match(run.stdout, `\ncommit ${commit}node `);
});

contents('the rpm states what it needs, and leaves data and settings when it is removed', () => {
  const needed = output('rpm', ['-qp', '--requires', '--nosignature', rpmFile]);
  for (const each of ['libc.so.6(GLIBC_2.34)(64bit)', 'libstdc++', 'libgcc'])
    assert.ok(needed.split('\n').includes(each), needed);
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

contents.run();
