import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Need } from '../../support/harness.ts';
import { scratchFolder } from '../../support/scratch.ts';

/** A file system of a few megabytes that can be filled to its last byte. */
export interface SmallDisk {
  folder: string;
  /** Takes so many megabytes, or all: then not a byte is left. */
  fill(megabytes?: number): void;
  /** Gives back what `fill` took. */
  free(): void;
  /** Lets nothing be written any more. */
  lock(): void;
}

const mounted = new Set<string>();
process.on('exit', unmountAll);

/** Mounts a tmpfs of so many megabytes; null where the machine forbids it. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const folder = scratchFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  mounted.add(folder);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill(megabytes = Number.POSITIVE_INFINITY) {
      const handle = openSync(filler, 'a');
      try {
        const block = Buffer.alloc(statfsSync(folder).bsize);
        for (let taken = 0; taken < megabytes * 1024 * 1024; taken += block.length) writeSync(handle, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(handle);
      }
    },
    free: () => rmSync(filler, { force: true }),
    lock: () => void execFileSync('mount', ['-o', 'remount,ro', folder]),
  };
}

/** What tests need that mount a file system. */
export const mounting: Need = { here: mountSmallDisk(1) !== null, bring: 'Allow mounts of tmpfs.' };
unmountAll();

/** Unmounts what was mounted; every suite that mounts does so in its `after`. */
export function unmountAll(): void {
  for (const folder of mounted) {
    execFileSync('umount', ['-l', folder]);
    mounted.delete(folder);
  }
}
