import { gunzipSync } from 'node:zlib';
import { AppError, badRequest } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { looksLikeZip, openArchive } from '../read/archive.ts';
import { ImportError } from '../read/import-error.ts';
import type { NamedFile } from './upgrade-several.ts';

/** What a zip may hold: files besides these are notes and pictures. */
const readable = /\.(?:cklb?|xml|json|gz)$/i;

/** Bytes of a gzip when it is unpacked (rule D53.5). */
const largestUnpacked = 64 * 1024 * 1024;

/** Whether bytes begin like a gzip. */
const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** The content of a gzip, and other bytes as they are (rule D53.5). Throws a 400 for a damaged gzip, a 413 beyond `most`. */
export function gunzipped(
  bytes: Uint8Array<ArrayBuffer>,
  name = 'The body',
  most = largestUnpacked,
): Uint8Array<ArrayBuffer> {
  if (!isGzip(bytes)) return bytes;
  try {
    // It stops at the first byte too many.
    return gunzipSync(bytes, { maxOutputLength: most }) as Buffer<ArrayBuffer>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('PAYLOAD_TOO_LARGE', `${name} is larger than ${most} bytes when it is unpacked`);
    throw badRequest(`${name} is a damaged gzip: ${message}`);
  }
}

/**
 * Files with each zip among them replaced by its checklists and scan results, and each gzip by its content: at most
 * `most` unpacked bytes together. Throws a 400 for a damaged or hostile zip and for one without such a file, a 413 for
 * more bytes.
 */
export async function unzipped(files: NamedFile[], most: number): Promise<NamedFile[]> {
  const budget = { left: most };
  const all: NamedFile[] = [];
  for (const file of files) {
    if (!looksLikeZip(file.bytes)) all.push(plainFile(file, budget));
    else all.push(...(await membersOf(file, budget, most)));
  }
  return all;
}

function plainFile(file: NamedFile, budget: { left: number }): NamedFile {
  if (!isGzip(file.bytes)) return file;
  const most = Math.min(largestUnpacked, Math.max(1, budget.left));
  const bytes = Buffer.from(gunzipped(new Uint8Array(file.bytes), cut(file.name), most));
  budget.left -= bytes.length;
  return { name: file.name.replace(/\.gz$/i, ''), bytes };
}

async function membersOf({ name, bytes }: NamedFile, budget: { left: number }, most: number) {
  try {
    const { members, close } = await openArchive(bytes, budget);
    try {
      const chosen = members.filter((member) => readable.test(member.name));
      if (chosen.length === 0)
        throw badRequest(`${cut(name)} has no checklist (.ckl, .cklb) and no scan results (.xml)`);
      const read: NamedFile[] = [];
      for (const member of chosen)
        read.push(plainFile({ name: member.name, bytes: await member.read() }, budget));
      return read;
    } finally {
      close();
    }
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    if (budget.left <= 0) throw new AppError('PAYLOAD_TOO_LARGE', `The files are larger than ${most} bytes`);
    throw badRequest(`${cut(name)}: ${error.message}`);
  }
}
