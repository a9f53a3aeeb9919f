import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json was not found in a folder above the program');
    folder = parent;
  }
  return folder;
}

/** The folder of the package, with `migrations`, `data` and `package.json`, compiled or not. */
export const packageRoot = findRoot();

/** The folder of the programs and the assets: `dist/src` of a build, `src` where the sources run as they are. */
export const programFolder = join(packageRoot, import.meta.url.endsWith('.ts') ? 'src' : join('dist', 'src'));

const manifest = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string;
  commit?: string;
};

export const packageVersion: string = manifest.version;

/** The commit of this build: in the manifest of an installation, in `dist/.commit` of a checkout. */
export const packageCommit: string = manifest.commit ?? builtFrom() ?? 'unknown';

function builtFrom(): string | undefined {
  const file = join(packageRoot, 'dist', '.commit');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() || undefined : undefined;
}
