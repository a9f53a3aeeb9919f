import { strip } from '../base/text.ts';

/** Bytes of the host's part of a file name; with slug and version it stays far below the 255 of file systems. */
const longestHost = 100;
const longestStem = 200;

/** Windows reserves these names, whatever follows their first dot. */
const device = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;

/** A part of a file name that every system accepts, in NFC: `_` replaces reserved characters, and signs in front. */
export function safeName(text: string, longest = longestHost): string {
  const plain = text
    .toWellFormed()
    .normalize('NFC')
    .replace(/(?:[<>:"/\\|?*%\ufffd\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs})+/gu, '_')
    .replace(/^[ .\-=+@~]+/, '_')
    .replace(/\.{2,}/g, '.');
  const name = strip(cutBytes(plain, longest), null, /[. ]/);
  return name === '' ? '_' : name;
}

function cutBytes(text: string, longest: number): string {
  let end = 0;
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > longest) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** Equal for names that file systems confuse when they ignore case or Unicode composition. */
export const nameKey = (name: string): string =>
  name.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKC');

/** Makes unique names for file systems that ignore case or Unicode composition: repeated ones get a number. */
export function createNames() {
  const taken = new Set<string>();
  /** The next number to try for a name: without it, a thousand hosts of one name would need a thousand tries each. */
  const next = new Map<string, number>();
  return (name: string, extension = ''): string => {
    const stem = cutBytes(device.test(name.split('.')[0]!.trimEnd()) ? `_${name}` : name, longestStem);
    const key = nameKey(stem);
    for (let number = next.get(key) ?? 1; ; number++) {
      const free = `${number === 1 ? stem : `${stem}-${number}`}${extension}`;
      if (taken.has(nameKey(free))) continue;
      taken.add(nameKey(free));
      next.set(key, number + 1);
      return free;
    }
  };
}
