/**
 * The assignments of a text, as systemd 252 reads an `EnvironmentFile` (`parse_env_file` of its source): `#` and `;`
 * begin comments, values need no quotes, blanks around a value go, a backslash at the end of a line continues it, and a
 * line without `=` is passed over. The last assignment of a name counts.
 */
export function parseEnvironmentFile(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    const character = text[at]!;
    if (isBlank(character)) at++;
    else if (character === '#' || character === ';') at = afterComment(text, at);
    else at = readAssignment(text, at, found);
  }
  return found;
}

const isBlank = (character: string) => ' \t\n\r'.includes(character);
const isLineEnd = (character: string) => character === '\n' || character === '\r';

/** A backslash at its end continues a comment, too. */
function afterComment(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (isLineEnd(text[at]!)) return at + 1;
  }
  return text.length;
}

function readAssignment(text: string, from: number, found: Map<string, string>): number {
  // The first character belongs to the name, whatever it is.
  let at = from + 1;
  while (at < text.length && text[at] !== '=') if (isLineEnd(text[at++]!)) return at;
  if (at === text.length) return at;
  const name = text.slice(from, at).trimEnd();
  const { value, end } = readValue(text, at + 1);
  found.set(name, value);
  return end;
}

/** Reads a value of quoted and unquoted parts, one after the other, to the end of its line. */
function readValue(text: string, from: number): { value: string; end: number } {
  let value = '';
  let at = from;
  while (at < text.length && !isLineEnd(text[at]!)) {
    const character = text[at]!;
    if (isBlank(character)) at++;
    else {
      const quote = character === "'" || character === '"' ? character : null;
      const part = quote === null ? readPlain(text, at) : readQuoted(text, at + 1, quote);
      value += part.value;
      at = part.end;
      // What is not quoted goes to the end of the line: a quote inside it is one of its characters.
      if (quote === null) break;
    }
  }
  return { value, end: at };
}

function readPlain(text: string, from: number): { value: string; end: number } {
  let value = '';
  let kept = 0;
  let at = from;
  for (; at < text.length && !isLineEnd(text[at]!); at++) {
    const isEscaped = text[at] === '\\';
    // Blanks before a backslash stay, also before one that ends the line or the file.
    if (isEscaped) kept = value.length;
    if (isEscaped && ++at === text.length) break;
    if (isEscaped && isLineEnd(text[at]!)) continue;
    value += text[at];
    if (isEscaped || !isBlank(text[at]!)) kept = value.length;
  }
  return { value: value.slice(0, kept), end: at };
}

function readQuoted(text: string, from: number, quote: string): { value: string; end: number } {
  let value = '';
  let at = from;
  for (; at < text.length && text[at] !== quote; at++) {
    if (quote === '"' && text[at] === '\\') {
      if (++at === text.length) break;
      if (text[at] === '\n') continue;
      if (!'"\\`$'.includes(text[at]!)) value += '\\';
    }
    value += text[at];
  }
  return { value, end: at + 1 };
}
