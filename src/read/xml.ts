import { SaxesParser } from 'saxes';
import { decodeText } from './decode.ts';
import { ImportError } from './import-error.ts';

/** The bounds of rule S2.3, for every XML document whatever its kind. */
export const xmlLimits = {
  bytes: 64 * 1024 * 1024,
  depth: 64,
  elements: 5_000_000,
  attributes: 64,
  attributeLength: 64 * 1024,
  commentsBefore: 1000,
};

/** An element as it opens: its local name, namespace URI (`""` when none) and attributes by qualified name. */
export interface XmlElement {
  local: string;
  uri: string;
  attributes: Record<string, string>;
}

/** Receives the events of one document, in document order. */
export interface XmlHandler {
  open(element: XmlElement): void;
  text(text: string): void;
  close(local: string, uri: string): void;
  /** Also gets the comments around the root. */
  comment?(text: string): void;
}

/** Gets the root element and gives the receiver of the events, the root's own included, or null. */
export type ChooseHandler = (root: XmlElement) => XmlHandler | null;

const notAllowed = 'a DOCTYPE is not allowed';

/** A DOCTYPE, with the root element that it names, or null. */
export class DoctypeError extends ImportError {
  readonly root: string | null;

  constructor(message: string, root: string | null) {
    super(message);
    this.root = root;
  }
}

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

/**
 * Reads an XML document to its end (rule S2.3), strictly and within limits; `choose` may want no events. Returns the root
 * element and the warnings of decoding. Throws `ImportError` with line and column.
 */
export function readXml(
  bytes: Uint8Array,
  options: { strict?: boolean },
  choose: ChooseHandler,
): { root: XmlElement; warnings: string[] } {
  if (bytes.byteLength > xmlLimits.bytes)
    throw new ImportError(`the file is larger than ${xmlLimits.bytes / 1024 / 1024} MB`);
  const { text, warnings } = decodeText(bytes, options.strict);
  return { root: readText(text, choose), warnings };
}

function readText(text: string, choose: ChooseHandler): XmlElement {
  const parser = new SaxesParser({
    xmlns: false,
    position: false,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
  });
  const outermost = new Map([['xml', xmlNamespace]]);
  const opened: { local: string; uri: string; scope: Map<string, string> }[] = [];
  const before: string[] = [];
  let root = null as XmlElement | null;
  let handler = null as XmlHandler | null;
  let count = 0;
  const place = () => `(line ${parser.line}, column ${parser.column})`;

  function fail(message: string): never {
    // HTML allows a DOCTYPE in any case; XML does not.
    const html = root === null ? /<!doctype\s+([^\s[<>]+)/i.exec(text.slice(0, 4096)) : null;
    if (html) throw new DoctypeError(`${notAllowed} ${place()}`, html[1]!);
    throw new ImportError(`${message} ${place()}`);
  }

  function scopeOf(name: string, attributes: Record<string, string>): Map<string, string> {
    const around = opened.at(-1)?.scope ?? outermost;
    let scope = around;
    let attributeCount = 0;
    for (const key in attributes) {
      if (++attributeCount > xmlLimits.attributes)
        fail(`more than ${xmlLimits.attributes} attributes on <${name}>`);
      const value = attributes[key]!;
      if (value.length > xmlLimits.attributeLength) fail(`the attribute ${key.slice(0, 40)} is too long`);
      if (key !== 'xmlns' && !key.startsWith('xmlns:')) continue;
      if (scope === around) scope = new Map(around);
      scope.set(key.slice(6), value);
    }
    return scope;
  }

  // Seven handlers: with an eighth V8 keeps the parser as a dictionary, and reading takes five times as long.
  parser.on('error', (error) => fail(error.message.replace(/\.$/, '')));
  parser.on('doctype', (doctype) => {
    throw new DoctypeError(`${notAllowed} ${place()}`, /^\s*([^\s[<>]+)/.exec(doctype)?.[1] ?? null);
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (opened.length >= xmlLimits.depth) fail(`elements are nested deeper than ${xmlLimits.depth}`);
    if (++count > xmlLimits.elements) fail(`more than ${xmlLimits.elements} elements`);
    const scope = scopeOf(name, attributes);
    const colon = name.indexOf(':');
    const prefix = colon < 0 ? '' : name.slice(0, colon);
    const uri =
      scope.get(prefix) ?? (prefix === '' ? '' : fail(`the prefix "${prefix.slice(0, 40)}" is not bound`));
    const element = { local: name.slice(colon + 1), uri, attributes };
    opened.push({ local: element.local, uri, scope });
    if (root === null) {
      root = element;
      handler = choose(element);
      for (const comment of before) handler?.comment?.(comment);
    }
    handler?.open(element);
  });
  const take = (part: string) => {
    if (opened.length > 0) handler?.text(part);
  };
  parser.on('text', take);
  parser.on('cdata', take);
  parser.on('closetag', () => {
    const { local, uri } = opened.pop()!;
    handler?.close(local, uri);
  });
  parser.on('comment', (comment) => {
    if (root !== null) handler?.comment?.(comment);
    else if (before.push(comment) > xmlLimits.commentsBefore)
      fail(`more than ${xmlLimits.commentsBefore} comments before the root element`);
  });
  parser.write(text).close();
  if (root === null) throw new ImportError('the document has no root element');
  return root;
}
