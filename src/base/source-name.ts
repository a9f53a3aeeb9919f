import { basename } from 'node:path';

/** A source's name without the folder it was imported from: members of archives stay after `!/`. */
export function withoutFolder(source: string): string {
  const [file, ...members] = source.split('!/');
  return [basename(file!), ...members].join('!/');
}
