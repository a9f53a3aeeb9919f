import { SaxesParser } from 'saxes';
import { type DecodedText, decodeText } from '../decode.ts';
import { ImportError } from '../errors.ts';

/** The bounds of SECURITY 2.3, for every XML document whatever its kind. */
export const xmlLimits = {
  bytes: 64 * 1024 * 1024,
  depth: 64,
  elements: 5_000_000,
  attributes: 64,
  attributeLength: 64 * 1024,
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
}

export interface XmlDocument extends DecodedText {
  root: XmlElement;
}

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

/**
 * The one gate that all XML passes (SECURITY 2.3): bytes decoded fatally, DOCTYPE refused, sizes capped,
 * well-formedness checked in one streaming pass, names resolved by namespace. `choose` sees the root element and
 * returns who receives the events (the root's own included), or null for nobody; the document is read to its end
 * either way. Throws `ImportError` with line and column.
 */
export function readXml(
  bytes: Uint8Array,
  options: { strict?: boolean },
  choose: (root: XmlElement) => XmlHandler | null,
): XmlDocument {
  if (bytes.byteLength > xmlLimits.bytes) {
    throw new ImportError(`the file is larger than ${xmlLimits.bytes / 1024 / 1024} MB`);
  }
  const decoded = decodeText(bytes, options.strict);
  const root = pass(decoded.text, choose);
  return { ...decoded, root };
}

function pass(text: string, choose: (root: XmlElement) => XmlHandler | null): XmlElement {
  const parser = new SaxesParser({
    xmlns: false,
    position: true,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
  });
  const scopes: Map<string, string>[] = [new Map([['xml', xmlNamespace]])];
  const names: { local: string; uri: string; scoped: boolean }[] = [];
  let root: XmlElement | null = null;
  let handler: XmlHandler | null = null;
  let elements = 0;

  const fail = (message: string): never => {
    throw new ImportError(`${message} (line ${parser.line}, column ${parser.column})`);
  };
  parser.on('error', (error) => fail(error.message.replace(/^.*?\d+:\d+: /, '').replace(/\.$/, '')));
  parser.on('doctype', () => fail('a DOCTYPE is not allowed'));
  parser.on('opentag', (tag) => {
    if (names.length >= xmlLimits.depth) fail(`elements are nested deeper than ${xmlLimits.depth}`);
    if (++elements > xmlLimits.elements) fail(`more than ${xmlLimits.elements} elements`);
    const attributes = tag.attributes as Record<string, string>;
    let scope = scopes[scopes.length - 1]!;
    let scoped = false;
    let count = 0;
    for (const name in attributes) {
      const value = attributes[name]!;
      if (++count > xmlLimits.attributes)
        fail(`more than ${xmlLimits.attributes} attributes on <${tag.name}>`);
      if (value.length > xmlLimits.attributeLength) fail(`the attribute ${name.slice(0, 40)} is too long`);
      if (name === 'xmlns' || name.startsWith('xmlns:')) {
        if (!scoped) scope = new Map(scope);
        scoped = true;
        scope.set(name.slice(6), value);
      }
    }
    if (scoped) scopes.push(scope);
    const colon = tag.name.indexOf(':');
    const prefix = colon < 0 ? '' : tag.name.slice(0, colon);
    const uri =
      scope.get(prefix) ?? (prefix === '' ? '' : fail(`the prefix "${prefix.slice(0, 40)}" is not bound`));
    const element = { local: colon < 0 ? tag.name : tag.name.slice(colon + 1), uri, attributes };
    names.push({ local: element.local, uri, scoped });
    if (root === null) {
      root = element;
      handler = choose(element);
    }
    handler?.open(element);
  });
  parser.on('text', (part) => handler?.text(part));
  parser.on('cdata', (part) => handler?.text(part));
  parser.on('closetag', () => {
    const name = names.pop()!;
    if (name.scoped) scopes.pop();
    handler?.close(name.local, name.uri);
  });
  parser.write(text).close();
  if (root === null) throw new ImportError('the document has no root element');
  return root;
}
