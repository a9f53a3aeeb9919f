import { AppError, badRequest } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { looksLikeZip, openArchive } from '../read/archive.ts';
import { ImportError } from '../read/import-error.ts';
import type { NamedFile } from './upgrade-several.ts';

/** What a zip may hold: files besides these are notes and pictures. */
const wanted = /\.(?:cklb?|xml|json)$/i;

/**
 * Files with each zip among them replaced by its checklists and scan results, at most `most` bytes together. Throws a
 * 400 for a damaged or hostile zip and for one without such a file, a 413 for more bytes.
 */
export async function unzipped(files: NamedFile[], most: number): Promise<NamedFile[]> {
  const budget = { left: most };
  const all: NamedFile[] = [];
  for (const file of files) {
    if (!looksLikeZip(file.bytes)) all.push(file);
    else all.push(...(await membersOf(file, budget, most)));
  }
  return all;
}

async function membersOf({ name, bytes }: NamedFile, budget: { left: number }, most: number) {
  try {
    const { members, close } = await openArchive(bytes, budget);
    try {
      const chosen = members.filter((member) => wanted.test(member.name));
      if (chosen.length === 0)
        throw badRequest(`${cut(name)} has no checklist (.ckl, .cklb) and no scan results (.xml)`);
      const read: NamedFile[] = [];
      for (const member of chosen) read.push({ name: member.name, bytes: await member.read() });
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
