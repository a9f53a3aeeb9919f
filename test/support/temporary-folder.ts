import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** What the tests write at once, several times over. */
const roomInMemory = 4 * 1024 ** 3;

/**
 * The folder for what tests write: in memory, where that has room and runs programs, since many tests write databases, and
 * each of these waits for the disk at each commit.
 */
export function temporaryFolder(): string {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    accessSync(memory, constants.W_OK);
    const runsPrograms = !/ \/dev\/shm \S+ \S*noexec/.test(readFileSync('/proc/mounts', 'utf8'));
    if (bavail * bsize > roomInMemory && runsPrograms) return memory;
  } catch {
    // There is none.
  }
  return tmpdir();
}
