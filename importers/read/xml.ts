import { SaxesParser } from 'saxes';
import { ImportError } from '../errors.ts';
import { decodeText, startOfUtf8 } from './decode.ts';
import { scanXml, type XmlEvents } from './xml-scan.ts';

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
  /** Gets the comments, those around the root included. */
  comment?(text: string): void;
  /** True while texts need not be sent: a handler that never says so gets them all. */
  readonly ignoresText?: boolean;
}

export interface XmlDocument {
  root: XmlElement;
  warnings: string[];
  /** The whole document as text; it is decoded when it is asked for. */
  text(): string;
}

/** Sees the root element and gives who receives the events, the root's own included, or null for nobody. */
export type ChooseHandler = (root: XmlElement) => XmlHandler | null;

const notAllowed = 'a DOCTYPE is not allowed';

/** A DOCTYPE: with the root element that it names, null where it names none. */
export class DoctypeError extends ImportError {
  readonly root: string | null;

  constructor(message: string, root: string | null) {
    super(message);
    this.root = root;
  }
}

/** A document has some dozens of names; a hostile one has millions. */
const rememberedNames = 1000;
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

/**
 * The one gate that all XML passes (rule S2.3): bytes decoded fatally, DOCTYPE refused, sizes capped,
 * well-formedness checked in one pass, names resolved by namespace. The document is read to its end even where `choose`
 * wants no events. `choose` may be called twice: what was collected after the first call is void then. Throws
 * `ImportError` with line and column.
 */
export function readXml(
  bytes: Uint8Array,
  options: { strict?: boolean },
  choose: ChooseHandler,
): XmlDocument {
  if (bytes.byteLength > xmlLimits.bytes) {
    throw new ImportError(`the file is larger than ${xmlLimits.bytes / 1024 / 1024} MB`);
  }
  const start = startOfUtf8(bytes);
  const plain =
    start === null
      ? null
      : readPlain(Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.byteLength - start), choose);
  if (plain !== null) return { root: plain, warnings: [], text: () => decodeText(bytes).text };
  const { text, warnings } = decodeText(bytes, options.strict);
  return { root: readAny(text, choose), warnings, text: () => text };
}

/** Reads a document of the plain sort; null for any other, and for one that is refused: `readAny` says why and where. */
function readPlain(bytes: Buffer, choose: ChooseHandler): XmlElement | null {
  const elements = new Elements(choose, (message) => {
    throw new ImportError(message);
  });
  try {
    return scanXml(bytes, elements) ? elements.root : null;
  } catch (error) {
    if (error instanceof ImportError) return null;
    throw error;
  }
}

function readAny(text: string, choose: ChooseHandler): XmlElement {
  const parser = new SaxesParser({
    xmlns: false,
    position: true,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
  });
  const place = () => `(line ${parser.line}, column ${parser.column})`;
  const fail = (message: string): never => {
    // In HTML it is written in any case, which is no XML.
    const html = elements.root === null ? /<!doctype\s+([^\s[<>]+)/i.exec(text.slice(0, 4096)) : null;
    if (html) throw new DoctypeError(`${notAllowed} ${place()}`, html[1]!);
    throw new ImportError(`${message} ${place()}`);
  };
  const elements: Elements = new Elements(choose, fail);
  parser.on('error', (error) => fail(error.message.replace(/^.*?\d+:\d+: /, '').replace(/\.$/, '')));
  parser.on('doctype', (doctype) => {
    const root = /^\s*([^\s[<>]+)/.exec(doctype)?.[1] ?? null;
    throw new DoctypeError(`${notAllowed} ${place()}`, root);
  });
  parser.on('opentag', (tag) => {
    const attributes = tag.attributes as Record<string, string>;
    elements.open(tag.name, attributes, Object.keys(attributes));
  });
  parser.on('text', (part) => elements.text(part));
  parser.on('cdata', (part) => elements.text(part));
  parser.on('closetag', () => elements.close());
  parser.on('comment', (text) => elements.comment(text));
  parser.write(text).close();
  if (elements.root === null) throw new ImportError('the document has no root element');
  return elements.root;
}

interface Name {
  prefix: string;
  local: string;
}

/** Caps the elements of a document, resolves their names and passes them on; `fail` is told what is beyond a bound. */
class Elements implements XmlEvents {
  root: XmlElement | null = null;
  private readonly choose: ChooseHandler;
  private readonly fail: (message: string) => never;
  private readonly scopes: Map<string, string>[] = [new Map([['xml', xmlNamespace]])];
  private readonly names = new Map<string, Name>();
  private readonly opened: { local: string; uri: string; scoped: boolean }[] = [];
  private readonly before: string[] = [];
  private handler: XmlHandler | null = null;
  private count = 0;

  constructor(choose: ChooseHandler, fail: (message: string) => never) {
    this.choose = choose;
    this.fail = fail;
  }

  open(name: string, attributes: Record<string, string>, keys: string[]): void {
    const { opened, scopes, fail } = this;
    if (opened.length >= xmlLimits.depth) fail(`elements are nested deeper than ${xmlLimits.depth}`);
    if (++this.count > xmlLimits.elements) fail(`more than ${xmlLimits.elements} elements`);
    let scope = scopes[scopes.length - 1]!;
    let scoped = false;
    if (keys.length > xmlLimits.attributes) fail(`more than ${xmlLimits.attributes} attributes on <${name}>`);
    for (const key of keys) {
      const value = attributes[key]!;
      if (value.length > xmlLimits.attributeLength) fail(`the attribute ${key.slice(0, 40)} is too long`);
      if (key === 'xmlns' || key.startsWith('xmlns:')) {
        if (!scoped) scope = new Map(scope);
        scoped = true;
        scope.set(key.slice(6), value);
      }
    }
    if (scoped) scopes.push(scope);
    const { prefix, local } = this.nameOf(name);
    const uri =
      scope.get(prefix) ?? (prefix === '' ? '' : fail(`the prefix "${prefix.slice(0, 40)}" is not bound`));
    const element = { local, uri, attributes };
    opened.push({ local, uri, scoped });
    if (this.root === null) {
      this.root = element;
      this.handler = this.choose(element);
    }
    for (const text of this.before.splice(0)) this.handler?.comment?.(text);
    this.handler?.open(element);
  }

  text(text: string): void {
    this.handler?.text(text);
  }

  comment(text: string): void {
    if (this.root !== null) this.handler?.comment?.(text);
    else if (this.before.push(text) > xmlLimits.commentsBefore)
      this.fail(`more than ${xmlLimits.commentsBefore} comments before the root element`);
  }

  get ignoresText(): boolean {
    return this.handler === null || this.handler.ignoresText === true;
  }

  close(): void {
    const { local, uri, scoped } = this.opened.pop()!;
    if (scoped) this.scopes.pop();
    this.handler?.close(local, uri);
  }

  private nameOf(name: string): Name {
    const known = this.names.get(name);
    if (known) return known;
    const colon = name.indexOf(':');
    const parts =
      colon < 0
        ? { prefix: '', local: name }
        : { prefix: name.slice(0, colon), local: name.slice(colon + 1) };
    if (this.names.size < rememberedNames) this.names.set(name, parts);
    return parts;
  }
}
