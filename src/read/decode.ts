import { isUtf8 } from 'node:buffer';
import { ImportError } from './import-error.ts';

/** A text with the warnings of its decoding. */
export interface DecodedText {
  text: string;
  warnings: string[];
}

/**
 * What windows-1252 has in the place of C1 controls, which Node 22's own decoder gives (rule S2.8); a NUL is unassigned.
 */
const windows1252 = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ';

const utf8Mark = Buffer.from('\ufeff');

/**
 * Decodes a text file: byte-order mark first, then the encoding of an XML declaration, else strict UTF-8, else windows-1252
 * with a warning (rule D20). Throws `ImportError` where no reading gives a clean text, or `strict` forbids the warning.
 */
export function decodeText(bytes: Uint8Array, strict = false): DecodedText {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const wide = wideEncodingOf(buffer);
  if (wide !== null) return { text: fatal(wide, buffer), warnings: [] };
  const hasMark = buffer.subarray(0, utf8Mark.length).equals(utf8Mark);
  const declared = hasMark ? 'utf-8' : declaredEncoding(buffer);
  switch (declared) {
    case 'utf-8':
    case 'us-ascii':
      return decodeUtf8(buffer, hasMark ? utf8Mark.length : 0, strict);
    case 'windows-1252':
      return { text: decodeWindows1252(buffer), warnings: [] };
    case 'iso-8859-1':
      return { text: buffer.toString('latin1'), warnings: [] };
    default:
      throw new ImportError(`the encoding "${declared.slice(0, 40)}" is not supported`);
  }
}

/** Decodes a file like `decodeText`, but valid UTF-8 as UTF-8, whatever its XML declaration says. */
export const decodeFile = (bytes: Uint8Array): DecodedText =>
  isUtf8(bytes) ? { text: new TextDecoder().decode(bytes), warnings: [] } : decodeText(bytes);

/** The first characters of a file without a byte-order mark: of UTF-16 its characters, else each byte as one. */
export function headOf(bytes: Uint8Array, length: number): string {
  const head = Buffer.from(bytes.subarray(0, 2 * length));
  const wide = wideEncodingOf(head);
  if (wide !== null) return new TextDecoder(wide).decode(head);
  return head.toString('latin1', 0, length).replace(/^\xef\xbb\xbf/, '');
}

/** The encoding that a byte-order mark of UTF-16 names; null without one. */
export function wideEncodingOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

function declaredEncoding(buffer: Buffer): string {
  const head = buffer.toString('latin1', 0, 200);
  const match = /^<\?xml\s[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(head);
  return match ? match[1]!.toLowerCase() : 'utf-8';
}

function fatal(encoding: string, buffer: Buffer): string {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(buffer);
  } catch {
    throw new ImportError(`the file is not valid ${encoding.toUpperCase()}`);
  }
}

function decodeUtf8(buffer: Buffer, start: number, strict: boolean): DecodedText {
  if (isUtf8(buffer)) return { text: buffer.toString('utf8', start), warnings: [] };
  const offset = firstInvalidUtf8(buffer);
  const line = buffer.subarray(0, offset).filter((byte) => byte === 10).length + 1;
  const where = `byte 0x${buffer[offset]!.toString(16).toUpperCase()} at offset ${offset} (line ${line})`;
  if (strict) throw new ImportError(`not valid UTF-8: ${where}`);
  let text: string;
  try {
    text = decodeWindows1252(buffer.subarray(start));
  } catch (error) {
    throw new ImportError(`not valid UTF-8: ${where}; nor windows-1252: ${(error as Error).message}`);
  }
  const mixed = hasMultibyteUtf8(buffer, offset)
    ? '; it also contains valid UTF-8 sequences, which are misread this way'
    : '';
  return { text, warnings: [`not valid UTF-8: ${where}; the whole file was read as windows-1252${mixed}`] };
}

/** Decodes windows-1252; throws `ImportError` at a byte that is unassigned or an unprintable control. */
function decodeWindows1252(buffer: Buffer): string {
  const text = buffer
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (control) => windows1252[control.charCodeAt(0) - 0x80]!);
  const offset = text.search(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/);
  if (offset >= 0)
    throw new ImportError(
      `byte 0x${buffer[offset]!.toString(16).toUpperCase()} at offset ${offset} is not a printable character`,
    );
  return text;
}

function firstInvalidUtf8(buffer: Buffer): number {
  let offset = 0;
  for (const text of buffer.toString('utf8').split('\ufffd')) {
    offset += Buffer.byteLength(text);
    // U+FFFD stands for invalid bytes, and for itself.
    if (buffer.toString('hex', offset, offset + 3) !== 'efbfbd') break;
    offset += 3;
  }
  return offset;
}

function hasMultibyteUtf8(buffer: Buffer, firstInvalid: number): boolean {
  if (buffer.subarray(3, firstInvalid).some((byte) => byte >= 0x80)) return true;
  const rest = buffer.toString('utf8', firstInvalid);
  return /[\u0080-\ufffc]/.test(rest);
}
