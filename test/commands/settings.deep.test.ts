// gapstone.env, `gapstone config`, and what a wrong word is answered with (rule D44.3).
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { parseEnvironmentFile, readSettingsFile } from '../../src/base/installation.ts';
import { packageRoot } from '../../src/base/root.ts';
import { settingNames, variableOf } from '../../src/base/settings.ts';
import { sampleKey } from '../support/bundles.ts';
import { suite, testIf } from '../support/harness.ts';
import { programs } from '../support/programs.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const settings = suite('Settings');

/** systemd's own reader of such files. It also replaces `$` and refuses empty values, which are left out here. */
const generator = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator';

function bySystemd(text: string): Map<string, string> {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'environment.d'));
  writeFileSync(join(folder, 'environment.d', 'x.conf'), text);
  const env = { XDG_CONFIG_HOME: folder, HOME: '/nonexistent', PATH: process.env.PATH! };
  const printed = execFileSync(generator, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  // It prints lines for a shell: a value is bare, in double quotes, or in `$'...'`.
  const script = `set -a; eval "$1"; for name in G1 G2 G3; do [ -z "\${!name+x}" ] || printf '%s\\0%s\\0' "$name" "\${!name}"; done`;
  const parts = execFileSync('bash', ['--norc', '-c', script, 'bash', printed], {
    encoding: 'utf8',
    env: {},
  }).split('\0');
  return new Map(
    Array.from({ length: (parts.length - 1) / 2 }, (_, at) => [parts[2 * at]!, parts[2 * at + 1]!]),
  );
}

const systemd = {
  here: existsSync(generator) && programs('bash').here,
  bring: 'apt-get install systemd bash',
};

testIf(systemd, settings)('gapstone.env is read as systemd reads it', () => {
  const piece = fc.constantFrom(
    ...['a', 'b c', ' ', '"', "'", '\\', '\\\n', '#', ';', '=', 'é', 'n', '//', '"x y"', "'x y'"],
  );
  const value = fc.array(piece, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
  const line = fc.oneof(
    fc.tuple(fc.constantFrom('G1', 'G2', ' G3', 'G1 '), value).map(([name, text]) => `${name}=${text}`),
    fc.constantFrom('# comment', '; comment', '', 'no assignment', '#\\', '=G1="', '\\'),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
      const text = `${lines.join('\n')}\n`;
      // A line end inside quotes is printed in a form of its own.
      fc.pre(![...parseEnvironmentFile(text).values()].some((each) => each.includes('\n')));
      const own = [...parseEnvironmentFile(text)].filter(
        ([name, each]) => /^G[123]$/.test(name) && each !== '',
      );
      const theirs = bySystemd(text);
      // An assignment of nothing is an error to that program alone: it keeps the one before.
      for (const [name, each] of parseEnvironmentFile(text)) if (each === '') theirs.delete(name);
      assert.equal(new Map(own.sort()), new Map([...theirs].sort()), JSON.stringify(text));
    }),
    { numRuns: 8 },
  );
});

settings('quotes, blanks, comments and continued lines, one by one', () => {
  const cases: [text: string, value: string | undefined][] = [
    ['A=UNCLASSIFIED // FOUO  ', 'UNCLASSIFIED // FOUO'],
    ['A="x y"', 'x y'],
    ['A=\'x "y"\'', 'x "y"'],
    ['A=x "y"', 'x "y"'],
    ['A="a\\"b\\n"', 'a"b\\n'],
    ['A=a \\\n b', 'a  b'],
    ['A=a \\\n', 'a '],
    ['A=a \\', 'a '],
    ['A=1\nA=2', '2'],
    ['# A=1', undefined],
    ['; A=1', undefined],
    ['A=', ''],
    ['A=\ta\tb\t', 'a\tb'],
    [' A = 1 # not a comment', '1 # not a comment'],
    ['A', undefined],
    ['A="open', 'open'],
    ['A=1\r\nB=2\r\n', '1'],
    ['=B="\nA=1', undefined],
    ['export A=1', undefined],
  ];
  for (const [text, value] of cases) assert.is(parseEnvironmentFile(text).get('A'), value, text);
});

settings('a settings file is text in UTF-8 that no other user may change', () => {
  const folder = scratchFolder();
  const cases: [bytes: string | Buffer, expected: Record<string, string> | RegExp, ignored?: string[]][] = [
    ['\ufeffGAPSTONE_BANNER=\u00c4 \u2014 B\n', { GAPSTONE_BANNER: '\u00c4 \u2014 B' }],
    ['export GAPSTONE_PORT=1\nPATH=/x\nGAPSTONE_X=y', { GAPSTONE_X: 'y' }, ['export GAPSTONE_PORT', 'PATH']],
    [Buffer.from('GAPSTONE_BANNER=\xc4\n', 'latin1'), /cannot be read: .*utf-8/],
    [Buffer.from('\ufeffGAPSTONE_PORT=1\n', 'utf16le'), /cannot be read: .*utf-8/],
    ['GAPSTONE_PORT=1\0\n', /cannot be read: it has a byte 0/],
    ['#'.repeat((1 << 20) + 1), /has 1048577 bytes, at most 1048576 are read/],
  ];
  for (const [bytes, expected, ignored = []] of cases) {
    const file = put(folder, 'gapstone.env', bytes);
    const names: string[] = [];
    const read = () => readSettingsFile((name) => names.push(name), file);
    if (expected instanceof RegExp) assert.throws(read, expected);
    else assert.equal([read(), names], [expected, ignored]);
  }
  // The target of a link counts, and not its own mode.
  symlinkSync('gapstone.env', join(folder, 'link.env'));
  put(folder, 'gapstone.env', 'GAPSTONE_PORT=1\n');
  assert.equal(readSettingsFile(undefined, join(folder, 'link.env')), { GAPSTONE_PORT: '1' });
  chmodSync(join(folder, 'gapstone.env'), 0o602);
  assert.throws(() => readSettingsFile(undefined, join(folder, 'link.env')), /can be changed by others/);
  assert.throws(() => readSettingsFile(undefined, folder), /is not a file/);
  assert.equal(readSettingsFile(undefined, join(folder, 'none.env')), {});
});

/** A copy of the program in a folder of its own: the settings lie beside that. */
function installation(): { folder: string; run: (args: string[], env?: Record<string, string>) => Run } {
  const folder = scratchFolder();
  const home = join(folder, 'program');
  mkdirSync(join(home, 'dist'), { recursive: true });
  for (const name of ['src', 'chunks'])
    cpSync(join(packageRoot, 'dist', name), join(home, 'dist', name), { recursive: true });
  for (const name of ['migrations', 'data', 'node_modules', 'docs'])
    symlinkSync(join(packageRoot, name), join(home, name));
  cpSync(join(packageRoot, 'package.json'), join(home, 'package.json'));
  const run = (args: string[], env: Record<string, string> = {}) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(home, 'dist/src/cli.js'), ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH!, ...env },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  return { folder, run };
}
type Run = { status: number | null; stdout: string; stderr: string };

settings('flags come before the environment, that before gapstone.env, that before defaults', () => {
  const { folder, run } = installation();
  put(
    folder,
    'gapstone.env',
    [
      'GAPSTONE_BANNER=UNCLASSIFIED // FOR OFFICIAL USE ONLY',
      'GAPSTONE_PORT=8443',
      'GAPSTONE_HOST=0.0.0.0',
      'GAPSTONE_CRON_SECRET=canary-canary-canary',
      'GAPSTONE_PROT=1',
      'NODE_OPTIONS=--nonsense',
      'PATH=/nowhere',
    ].join('\n'),
  );
  const { status, stdout, stderr } = run(['config', '--json', '--host', '::1'], { GAPSTONE_PORT: '9000' });
  assert.is(status, 0, stderr);
  const { file, settings: all } = JSON.parse(stdout) as {
    file: string;
    settings: { name: string; value: string | null; from: string }[];
  };
  assert.is(file, join(folder, 'gapstone.env'));
  assert.equal(all.map(({ name }) => name).sort(), settingNames.map(variableOf).sort());
  const found = (name: string) => {
    const { value, from } = all.find((each) => each.name === `GAPSTONE_${name}`)!;
    return [value, from];
  };
  assert.equal(found('BANNER'), ['UNCLASSIFIED // FOR OFFICIAL USE ONLY', 'file']);
  assert.equal(found('PORT'), ['9000', 'environment']);
  assert.equal(found('HOST'), ['::1', 'flag']);
  assert.equal(found('CRON_SECRET'), [null, 'file']);
  assert.equal(found('METRICS'), ['on', 'default']);
  assert.equal(found('USERS_DB'), ['gapstone-users.db', 'default']);
  assert.is(
    stderr,
    'warning: names that do not begin with GAPSTONE_ are ignored: NODE_OPTIONS, PATH\nwarning: unknown environment variables: GAPSTONE_PROT\n',
  );
  const text = run(['config']);
  assert.match(text.stdout, /^file {9}GAPSTONE_CRON_SECRET=\(set\)$/m);
  assert.match(text.stdout, /^file {9}GAPSTONE_BANNER=UNCLASSIFIED \/\/ FOR OFFICIAL USE ONLY$/m);
  assert.not.match(stdout + stderr + text.stdout + text.stderr, /canary/);
});

settings('each command reads gapstone.env; a wrong one is 1 in config, 2 elsewhere', () => {
  const { folder, run } = installation();
  const file = put(folder, 'gapstone.env', 'GAPSTONE_DB=other.db\n');
  for (const args of [['status'], ['token', 'issue', '--subject', 's'], ['mcp']])
    assert.match(run(args).stderr, /^gapstone: there is no database at other\.db: /, args[0]);
  assert.match(run(['status'], { GAPSTONE_DB: 'third.db' }).stderr, /no database at third\.db/);
  writeFileSync(file, 'GAPSTONE_PORT=eighty\n');
  const message = 'gapstone: GAPSTONE_PORT must be a number from 0 to 65535, not "eighty"\n';
  assert.equal(run(['config']), { status: 1, stdout: '', stderr: message });
  assert.equal(run(['status']), { status: 2, stdout: '', stderr: message });
  writeFileSync(file, 'GAPSTONE_PORT=8080\n');
  chmodSync(file, 0o664);
  const open = `gapstone: the settings file ${file} can be changed by others: chmod go-w ${file}\n`;
  assert.equal(run(['status']), { status: 2, stdout: '', stderr: open });
  // What needs no settings still helps.
  assert.is(run(['status', '--help']).status, 0);
});

settings('in a package wrong usage makes no folder, and config says 1', () => {
  const { folder, run } = installation();
  // What makes it a package.
  mkdirSync(join(folder, 'program', 'bin'));
  symlinkSync(process.execPath, join(folder, 'program', 'bin', 'node'));
  const data = join(folder, 'gapstone-data');
  for (const args of [
    ['import', 'nowhere.zip'],
    ['restore', 'nowhere.zip'],
  ]) {
    assert.ok(run(args).status! > 0, args.join(' '));
    assert.not.ok(existsSync(data), args.join(' '));
  }
  const file = put(folder, 'gapstone.env', 'PATH=/nowhere\nexport GAPSTONE_PORT=1\n');
  assert.is(
    run(['config']).stderr,
    'warning: names that do not begin with GAPSTONE_ are ignored: PATH, export GAPSTONE_PORT\n',
  );
  chmodSync(file, 0o666);
  assert.equal([run(['config']).status, run(['status']).status], [1, 2]);
  chmodSync(file, 0o600);
  // A catalog that a bundle brings needs no start before it.
  const key = sampleKey('depot');
  assert.is(run(['content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot']).status, 0);
  assert.is(statSync(data).mode & 0o777, 0o700);
});

const asRoot = testIf({ here: process.geteuid?.() === 0, bring: 'Run the tests as root.' }, settings);
asRoot('root writes no data of others', () => {
  const { folder, run } = installation();
  mkdirSync(join(folder, 'program', 'bin'));
  symlinkSync(process.execPath, join(folder, 'program', 'bin', 'node'));
  const other = join(folder, 'other');
  mkdirSync(other);
  chownSync(other, 65534, 65534);
  const file = put(folder, 'gapstone.env', `GAPSTONE_DB=${join(other, 'gapstone.db')}\n`);
  chmodSync(file, 0o600);
  assert.match(
    run(['import', 'program/data/stigs']).stderr,
    /other belongs to another user \(uid 65534\): run this as that user/,
  );
  assert.equal([readdirSync(other), run(['config']).status], [[], 0]);
});

settings.run();
