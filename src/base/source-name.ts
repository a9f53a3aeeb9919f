import { basename, dirname } from 'node:path';

/** A source's name without the folder it was imported from: members of archives stay after `!/`. */
export function withoutFolder(source: string): string {
  const [file, ...members] = source.split('!/');
  return [basename(file!), ...members].join('!/');
}

/** The folder of a source, or of the archive that contains it. */
export function folderOf(source: string): string {
  return dirname(source.split('!/')[0]!);
}
