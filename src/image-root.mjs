// Makes a base's root into that of the image: `node src/image-root.mjs ROOT NODE_DIR`, as root. Node stays, what came with
// it to install packages goes, no program has more rights than who calls it, and the folders for data are there.
// Plain JavaScript, because not every base has `find`.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [root, nodeDir] = process.argv.slice(2);

/** Where packages of the base's own system brought npm, they are taken out of its records too. */
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

/** Takes the setuid and setgid bits from everything on this file system. */
function removePrivileges(folder, device) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const { mode, dev } = lstatSync(path);
    if (entry.isSymbolicLink() || dev !== device) continue;
    if (mode & 0o6000) chmodSync(path, mode & 0o1777);
    if (entry.isDirectory()) removePrivileges(path, device);
  }
}

/** A volume takes owner and mode of the folder under it: any user of group 0 may write, as OpenShift asks. */
function makeFolders() {
  for (const [name, mode, owner] of [
    ['data', 0o770, 65532],
    ['inbox', 0o755, 0],
  ]) {
    const path = join(root, name);
    mkdirSync(path, { recursive: true });
    chownSync(path, owner, 0);
    chmodSync(path, mode);
  }
}

removePackageManagers();
removePrivileges(root, lstatSync(root).dev);
makeFolders();
