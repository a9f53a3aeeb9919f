// What the tests of the package share: where it lies, how it is unpacked, and keys to sign it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { packageRoot, packageVersion } from '../../src/base/root.ts';
import { filesBelow as allBelow } from './cache.ts';
import { put, scratchFolder } from './scratch.ts';

/** Where `npm run package` puts what it makes. */
export const made = join(packageRoot, 'dist', 'package');
export const packageName = `gapstone-${packageVersion}-linux-x64`;
export const tarFile = join(made, `${packageName}.tar.xz`);
export const rpmFile = join(made, `gapstone-${packageVersion}-1.x86_64.rpm`);

/** Runs a program to its end; throws with what it said when it fails. */
export function output(program: string, args: string[], cwd?: string): string {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
  });
}

/** Unpacks the tar into a folder as a user does; gives the folder of the package. */
export function unpackTar(folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['xf', tarFile, '-C', folder]);
  return join(folder, packageName);
}

/** Unpacks the rpm without rpm, into a folder that is a root. */
export function unpackRpm(root: string): void {
  execFileSync('sh', ['-c', 'rpm2cpio "$1" | cpio -idm --quiet', 'sh', rpmFile], { cwd: root });
}

/** A private key as the build is given it. */
export function makeRpmKey(name: string): string {
  // Short, as the socket of gpg's agent lies in it.
  const home = mkdtempSync(join(tmpdir(), 'gpg-'));
  const options = [
    '--homedir',
    home,
    '--batch',
    '--quiet',
    '--pinentry-mode',
    'loopback',
    '--passphrase',
    '',
  ];
  const gpg = (...args: string[]) => spawnSync('gpg', [...options, ...args], { encoding: 'utf8' });
  gpg('--quick-gen-key', name, 'rsa3072', 'sign', 'never');
  const { stdout } = gpg('--armor', '--export-secret-keys', name);
  spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
  rmSync(home, { recursive: true, force: true });
  return put(scratchFolder(), 'key.asc', stdout);
}

/** What the package asks of a system, so that dnf finds it in an empty root. */
export function systemRpm(): string {
  const folder = scratchFolder();
  const spec = `Name: base\nVersion: 1\nRelease: 1\nSummary: A system\nLicense: MIT\nBuildArch: noarch
Provides: libc.so.6(GLIBC_2.34)(64bit) libstdc++ libgcc /bin/sh shadow-utils\n%description\n.\n%files\n`;
  const macros = ['--define', `_topdir ${folder}/top`, '--define', `_rpmdir ${folder}`];
  const name = ['--define', '_build_name_fmt %%{NAME}.rpm'];
  output('rpmbuild', ['-bb', '--quiet', ...macros, ...name, put(folder, 'base.spec', spec)]);
  return join(folder, 'base.rpm');
}

/** Signs the rpm that was carried into a folder, where the build was given no key, and states its hash anew. */
export function keyOfRpm(folder: string): void {
  const name = rpmFile.split('/').at(-1)!;
  output(join(packageRoot, 'packaging', 'sign.sh'), [join(folder, name), makeRpmKey('Gapstone')]);
  output('sh', ['-c', 'sha256sum *.rpm *.tar.xz RPM-GPG-KEY-gapstone > SHA256SUMS'], folder);
}

/** Every regular file below a folder. */
export const filesBelow = (folder: string): string[] =>
  allBelow(folder).map((path) => relative(folder, path));

/** The programs and libraries below a folder: whatever begins as an ELF file does. */
export function binariesBelow(folder: string): string[] {
  const isBinary = (name: string) => readFileSync(join(folder, name)).toString('latin1', 0, 4) === '\x7fELF';
  return filesBelow(folder).filter(isBinary);
}

if (!existsSync(tarFile)) throw new Error(`there is no package in ${made}: npm run package`);
