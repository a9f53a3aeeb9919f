import { isAscii } from 'node:buffer';

/** What a document says, tag by tag: names as written, attributes by qualified name, texts with references resolved. */
export interface XmlEvents {
  /** `keys` are the names of the attributes. */
  open(name: string, attributes: Record<string, string>, keys: string[]): void;
  text(text: string): void;
  close(): void;
  comment(text: string): void;
  /** True while texts need not be sent. */
  readonly ignoresText: boolean;
}

const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;
const controlOrWide = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|[\u0080-\u00ff]+/g;
/** U+FFFE and U+FFFF in UTF-8, byte by byte. */
const noCharacter = /\u00ef\u00bf[\u00be\u00bf]/;
const declaration =
  /^<\?xml[ \n]+version=(?:"1\.0"|'1\.0')(?:[ \n]+encoding=(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \n]+standalone=(?:"(?:yes|no)"|'(?:yes|no)'))?[ \n]*\?>/;
const instruction = /<\?([A-Za-z][\w.-]*)[ \n][^?]*\?>/y;
const plainName = /^[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?$/;
const blank = /^[ \t\n]*$/;
const lineBreaks = /[\t\n]/g;
const named = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);
/** Many times what a real document has; with more of them the full parser is asked at once, which knows the bounds. */
const maxElements = 500_000;
const longestReference = 10;
/** A document has some dozens of names; a hostile one has millions. */
const rememberedNames = 1000;
const noAttributes: Record<string, string> = Object.create(null);
const noKeys: string[] = [];

const tab = 9;
const newline = 10;
const space = 32;
const exclamation = 33;
const doubleQuote = 34;
const singleQuote = 39;
const slash = 47;
const equals = 61;
const greater = 62;
const question = 63;

/**
 * Reads a document of the plain sort that publishers write, several times faster than a full parser: it looks for the
 * next `<` instead of at each character. It knows a part of XML 1.0 and gives up, with false, at whatever else it meets:
 * DOCTYPEs, names beyond ASCII, blanks around `=`, and everything that is not well-formed. Where it gives true it has
 * sent the events that saxes sends (tests compare the two); where it gives false the events so far mean nothing.
 * `bytes` is valid UTF-8 without a byte-order mark.
 */
export function scanXml(bytes: Buffer, events: XmlEvents): boolean {
  return new Scanner(bytes, events).run();
}

/**
 * The text is held with one byte a character, which is half the memory and time of a text with any wide character in it;
 * only the parts with wide characters are decoded.
 */
class Scanner {
  private readonly text: string;
  private readonly events: XmlEvents;
  private readonly isAscii: boolean;
  private readonly mayEndSection: boolean;
  private readonly names = new Set<string>();
  /** Where wide characters begin, in order, and how many of these places are passed. */
  private readonly wide: number[] = [];
  private passed = 0;
  /** The first `&` at or after the place that was looked at last. */
  private ampersand = -1;
  private readonly open: string[] = [];
  private elements = 0;

  constructor(bytes: Buffer, events: XmlEvents) {
    const text = bytes.toString('latin1');
    this.text = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    this.events = events;
    this.isAscii = isAscii(bytes);
    this.mayEndSection = text.includes(']]>');
  }

  run(): boolean {
    const { text, open } = this;
    if (!this.findWide()) return false;
    let at: number | null = declaration.exec(text)?.[0].length ?? 0;
    while (at !== null) {
      const next = text.indexOf('<', at);
      const end = next < 0 ? text.length : next;
      if (end > at && !this.readText(at, end)) return false;
      if (next < 0) return this.elements > 0 && open.length === 0;
      const mark = text.charCodeAt(next + 1);
      if (mark === slash) at = this.readEndTag(next);
      else if (mark === exclamation) at = this.readSection(next);
      else if (mark === question) at = this.readInstruction(next);
      else at = this.readTag(next + 1);
    }
    return false;
  }

  /** Notes where wide characters stand; false where the document holds what is no character. */
  private findWide(): boolean {
    if (this.isAscii) return !control.test(this.text);
    for (const { 0: found, index } of this.text.matchAll(controlOrWide)) {
      if (found < '\u0080' || noCharacter.test(found)) return false;
      this.wide.push(index);
    }
    return true;
  }

  /** The text from one place to another, in order of places. */
  private slice(from: number, to: number): string {
    const part = this.text.slice(from, to);
    if (this.isAscii) return part;
    const { wide } = this;
    while (wide[this.passed]! < from) this.passed++;
    return wide[this.passed]! < to ? Buffer.from(part, 'latin1').toString() : part;
  }

  private readText(from: number, to: number): boolean {
    const { text, events } = this;
    if (this.open.length === 0) return blank.test(text.slice(from, to));
    if (this.mayEndSection && text.slice(from, to).includes(']]>')) return false;
    const isPlain = !this.hasReference(from, to);
    if (isPlain && events.ignoresText) return true;
    const part = this.slice(from, to);
    const resolved = isPlain ? part : resolve(part);
    if (resolved === null) return false;
    events.text(resolved);
    return true;
  }

  private hasReference(from: number, to: number): boolean {
    if (this.ampersand < from) {
      const next = this.text.indexOf('&', from);
      this.ampersand = next < 0 ? this.text.length : next;
    }
    return this.ampersand < to;
  }

  /** The readers below give where the text goes on, or null at what is beyond this scanner. */
  private readEndTag(from: number): number | null {
    const { text } = this;
    const name = this.open.pop();
    if (name === undefined || !text.startsWith(name, from + 2)) return null;
    const end = from + 2 + name.length;
    if (text.charCodeAt(end) !== greater) return null;
    this.events.close();
    return end + 1;
  }

  private readInstruction(from: number): number | null {
    instruction.lastIndex = from;
    const match = instruction.exec(this.text);
    return match === null || match[1]!.toLowerCase() === 'xml' ? null : from + match[0].length;
  }

  /** A comment, or a CDATA section inside the root. */
  private readSection(from: number): number | null {
    const { text } = this;
    if (text.startsWith('<!--', from)) {
      const dashes = text.indexOf('--', from + 4);
      if (dashes < 0 || text.charCodeAt(dashes + 2) !== greater) return null;
      this.events.comment(this.slice(from + 4, dashes));
      return dashes + 3;
    }
    if (this.open.length === 0 || !text.startsWith('<![CDATA[', from)) return null;
    const end = text.indexOf(']]>', from + 9);
    if (end < 0) return null;
    if (end > from + 9) this.events.text(this.slice(from + 9, end));
    return end + 3;
  }

  private readTag(from: number): number | null {
    const { text } = this;
    if ((this.open.length === 0 && this.elements > 0) || this.elements === maxElements) return null;
    this.elements++;
    let at = from;
    let code = text.charCodeAt(at);
    while (code > space && code !== greater && code !== slash) code = text.charCodeAt(++at);
    const name = text.slice(from, at);
    if (!this.isName(name)) return null;
    let attributes = noAttributes;
    let keys = noKeys;
    for (;;) {
      const gap = at;
      while (code === space || code === newline || code === tab) code = text.charCodeAt(++at);
      if (code === greater) {
        this.events.open(name, attributes, keys);
        this.open.push(name);
        return at + 1;
      }
      if (code === slash) {
        if (text.charCodeAt(at + 1) !== greater) return null;
        this.events.open(name, attributes, keys);
        this.events.close();
        return at + 2;
      }
      if (at === gap) return null;
      const start = at;
      while (code > space && code !== equals && code !== greater) code = text.charCodeAt(++at);
      const key = text.slice(start, at);
      if (code !== equals || !this.isName(key)) return null;
      const quote = text.charCodeAt(at + 1);
      if (quote !== doubleQuote && quote !== singleQuote) return null;
      const end = text.indexOf(quote === doubleQuote ? '"' : "'", at + 2);
      const value = end < 0 ? null : this.readValue(at + 2, end);
      if (value === null) return null;
      if (keys === noKeys) {
        keys = [];
        attributes = Object.create(null) as Record<string, string>;
      }
      if (key in attributes) return null;
      keys.push(key);
      attributes[key] = value;
      at = end + 1;
      code = text.charCodeAt(at);
    }
  }

  private readValue(from: number, to: number): string | null {
    const written = this.slice(from, to);
    if (written.includes('<')) return null;
    return resolve(written.replace(lineBreaks, ' '));
  }

  private isName(name: string): boolean {
    if (this.names.has(name)) return true;
    if (!plainName.test(name)) return false;
    if (this.names.size < rememberedNames) this.names.add(name);
    return true;
  }
}

/** A text with its references resolved; null for a bare `&` and for a reference that is unknown or names no character. */
function resolve(part: string): string | null {
  let ampersand = part.indexOf('&');
  if (ampersand < 0) return part;
  let resolved = '';
  let from = 0;
  while (ampersand >= 0) {
    const end = part.indexOf(';', ampersand);
    if (end < 0 || end - ampersand > longestReference) return null;
    const reference = part.slice(ampersand + 1, end);
    const character = named.get(reference) ?? numbered(reference);
    if (character === null) return null;
    resolved += part.slice(from, ampersand) + character;
    from = end + 1;
    ampersand = part.indexOf('&', from);
  }
  return resolved + part.slice(from);
}

function numbered(reference: string): string | null {
  const match = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(reference);
  if (match === null) return null;
  const code = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff)
    return null;
  const character = String.fromCodePoint(code);
  return control.test(character) ? null : character;
}
