// Turns the root of a base image into that of our image: `node src/image-root.mjs ROOT NODE_DIR`, as root. Keeps Node,
// removes its package managers, removes setuid and setgid bits, creates the folders for data. Plain JavaScript, because
// not every base has `find`.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';

const [root, nodeDir] = process.argv.slice(2);

/** Removes npm from the records of the system's own package manager too. */
function removePackageManagers() {
  const installed = spawnSync('rpm', ['--root', root, '-qa', 'npm', 'nodejs-npm', 'nodejs-nodemon'], {
    encoding: 'utf8',
  });
  const names = installed.stdout?.split('\n').filter((name) => name !== '') ?? [];
  if (names.length > 0) {
    const { status, stderr } = spawnSync('rpm', ['--root', root, '-e', '--nodeps', ...names], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`rpm cannot remove ${names.join(', ')}: ${stderr}`);
  }
  const home = join(root, nodeDir);
  for (const name of ['npm', 'npx', 'corepack', 'yarn', 'yarnpkg', 'pnpm', 'pnpx', 'nodemon'])
    rmSync(join(home, 'bin', name), { force: true });
  for (const folder of [join('lib', 'node_modules'), join('include', 'node')])
    rmSync(join(home, folder), { recursive: true, force: true });
  const optional = join(root, 'opt');
  for (const name of readdirSync(optional).filter((each) => each.startsWith('yarn')))
    rmSync(join(optional, name), { recursive: true, force: true });
}

/** Skips other mounted file systems. */
function removePrivileges(folder, device) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const { mode, dev } = lstatSync(path);
    if (entry.isSymbolicLink() || dev !== device) continue;
    if (mode & 0o6000) chmodSync(path, mode & 0o1777);
    if (entry.isDirectory()) removePrivileges(path, device);
  }
}

/** A volume inherits owner and mode of the folder under it: any user of group 0 may write, as OpenShift
 * requires, but not replace the files of another. */
function makeFolders() {
  for (const [name, mode, owner] of [
    ['data', 0o1770, 65532],
    ['inbox', 0o755, 0],
  ]) {
    const path = join(root, name);
    mkdirSync(path, { recursive: true });
    chownSync(path, owner, 0);
    chmodSync(path, mode);
  }
}

/** `gapstone` in the PATH, for `podman exec gapstone gapstone check`. */
function linkProgram() {
  const program = join('opt', 'gapstone', 'dist', 'src', 'cli.js');
  if (!existsSync(join(root, program))) return;
  chmodSync(join(root, program), 0o755);
  mkdirSync(join(root, 'usr', 'local', 'bin'), { recursive: true });
  symlinkSync(join('/', program), join(root, 'usr', 'local', 'bin', 'gapstone'));
}

removePackageManagers();
linkProgram();
removePrivileges(root, lstatSync(root).dev);
makeFolders();
