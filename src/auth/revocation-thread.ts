import { readFileSync, statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type RevocationList, readRevocationLists, type Signer } from './revocation-list.ts';

/** The files to read, and who may have signed their lists. */
export interface RevocationFiles {
  files: readonly string[];
  signers: readonly Signer[];
}

/** The lists of a file, or why it cannot be read. */
export interface FileOfLists {
  lists?: RevocationList[];
  reason?: string;
}

const mostBytes = 256 * 1024 * 1024;

function readFile(file: string, signers: readonly Signer[]): FileOfLists {
  try {
    if (statSync(file).size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`);
    return { lists: readRevocationLists(readFileSync(file), signers) };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

// The entry of the worker that reads revocation lists: hostile bytes, and up to four million entries. It sends each file.
const { files, signers } = workerData as RevocationFiles;
for (const file of files) {
  const read = readFile(file, signers);
  const tables = read.lists?.map(({ serials }) => serials.slots.buffer as ArrayBuffer);
  parentPort!.postMessage(read, tables);
}
