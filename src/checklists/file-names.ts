/** Bytes of the part of a file's name that is the host's; with slug and version it stays far below the 255 of file systems. */
const longestHost = 100;
const longestStem = 200;

/** Names that Windows takes for devices, whatever follows their first dot. */
const device = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])$/i;

/**
 * Part of a file's name that every system takes: NFC; for each character that is reserved on any, not to be seen, or that leads
 * to another folder an underscore; no dot, blank, hyphen or sign of a formula in front, no dot or blank at the end.
 */
export function safeName(text: string, longest = longestHost): string {
  const plain = text
    .toWellFormed()
    .normalize('NFC')
    .replace(/(?:[<>:"/\\|?*%\ufffd\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs})+/gu, '_')
    .replace(/^[ .\-=+@~]+/, '_')
    .replace(/\.{2,}/g, '.');
  const name = cutBytes(plain, longest).replace(/[. ]+$/, '');
  return name === '' ? '_' : name;
}

/** As many whole characters as fit into so many bytes. */
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

/** What file systems that ignore case, or how a character is put together, take for the same name. */
export const nameKey = (name: string): string =>
  name.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKC');

/** Gives out names no two of which any file system takes for the same: from the second on they are numbered. */
export function createNames() {
  const taken = new Set<string>();
  /** The next number to try for a name: a thousand hosts of one name are not tried a thousand times each. */
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
