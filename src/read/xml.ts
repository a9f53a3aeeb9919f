import { SaxesParser } from 'saxes';
import { decodeText } from './decode.ts';
import { ImportError } from './import-error.ts';

/** The bounds of rule S2.3, for every XML document whatever its kind. */
export const xmlLimits = {
  bytes: 64 * 1024 * 1024,
  depth: 64,
  elements: 5_000_000,
  treeElements: 1_000_000,
  attributes: 64,
  attributeLength: 64 * 1024,
  commentsBefore: 1000,
};

/** An element as it opens: its local name, namespace URI (`""` when none) and attributes by qualified name. */
export interface XmlElement {
  name: string;
  uri: string;
  attributes: Record<string, string>;
}

/** An element with its content in document order, blanks included. */
export interface XmlNode extends XmlElement {
  children: (XmlNode | string)[];
}

/**
 * Reads one document as small trees, so that memory stays bounded. `around` are the open elements, the root first: of
 * `visit` and `tree` those around the element, of `text` and `comment` those around the text.
 */
export interface XmlVisitor {
  /**
   * Decides about an element outside of all trees, as it opens: `tree` hands it out with all its content, `children`
   * looks at its children in turn, `skip` passes over it.
   */
  visit(element: XmlElement, around: XmlElement[]): 'tree' | 'children' | 'skip';
  /** Receives a tree when its element closes. */
  tree(node: XmlNode, around: XmlElement[]): void;
  /** Receives text outside of trees and of skipped elements. */
  text?(text: string, around: XmlElement[]): void;
  /** Receives every comment, also those around the root. */
  comment?(text: string, around: XmlElement[]): void;
}

/** The visitor of a document that is small enough for one tree. */
export const wholeTree = (use: (root: XmlNode) => void): XmlVisitor => ({ visit: () => 'tree', tree: use });

/** The child elements with a name, of the namespace of the element, in document order. */
export function childrenOf(node: XmlNode, name: string): XmlNode[] {
  return node.children.filter(
    (child) => typeof child !== 'string' && child.name === name && child.uri === node.uri,
  ) as XmlNode[];
}

/** The child elements, in document order. */
export function elementsOf(node: XmlNode): XmlNode[] {
  return node.children.filter((child) => typeof child !== 'string');
}

/** The text of an element with that of its child elements. */
export function textOf(node: XmlNode): string {
  return node.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** The text of the first child element with a name; `""` without one. */
export function textIn(node: XmlNode, name: string): string {
  const child = childrenOf(node, name)[0];
  return child ? textOf(child) : '';
}

/** Receives the events of one document, in document order. */
export interface XmlHandler {
  /** Gets an element that has no children yet. */
  open(element: XmlNode): void;
  text(text: string): void;
  close(element: XmlElement): void;
  /** Also gets the comments around the root. */
  comment?(text: string): void;
}

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

interface XmlReading {
  root: XmlElement;
  /** Warnings of decoding. */
  warnings: string[];
}

/**
 * Reads an XML document to its end (rule S2.3), strictly and within limits. `choose` gets the root element and gives the
 * visitor, which is asked about the root first. Throws `ImportError` with line and column.
 */
export function readXml(
  bytes: Uint8Array,
  options: { strict?: boolean },
  choose: (root: XmlElement) => XmlVisitor,
): XmlReading {
  return readXmlEvents(bytes, options, (root) => treeBuilder(choose(root)));
}

/** Reads a document as `readXml` does, but gives each event. */
export function readXmlEvents(
  bytes: Uint8Array,
  options: { strict?: boolean },
  choose: (root: XmlElement) => XmlHandler,
): XmlReading {
  if (bytes.byteLength > xmlLimits.bytes)
    throw new ImportError(`the file is larger than ${xmlLimits.bytes / 1024 / 1024} MB`);
  const { text, warnings } = decodeText(bytes, options.strict);
  return { root: readText(text, choose), warnings };
}

/** Builds the trees of a visitor from events. Throws an `ImportError` for a tree of more than `most` elements. */
export function treeBuilder(visitor: XmlVisitor, most = xmlLimits.treeElements): XmlHandler {
  const around: XmlElement[] = [];
  /** The open elements of the tree that is built. */
  const branch: XmlNode[] = [];
  /** How many elements this tree has. */
  let size = 0;
  /** How many of the open elements are skipped. */
  let skipped = 0;
  const grow = (node: XmlNode) => {
    const parent = branch.at(-1);
    size = parent ? size + 1 : 1;
    if (size > most) throw new ImportError(`more than ${most} elements in <${branch[0]!.name.slice(0, 64)}>`);
    parent?.children.push(node);
    branch.push(node);
  };
  return {
    open(element) {
      if (branch.length > 0) grow(element);
      else if (skipped > 0) skipped++;
      else {
        const plan = visitor.visit(element, around);
        if (plan === 'tree') grow(element);
        if (plan === 'skip') skipped++;
      }
      around.push(element);
    },
    text(text) {
      const parent = branch.at(-1);
      if (parent) parent.children.push(text);
      else if (skipped === 0) visitor.text?.(text, around);
    },
    close() {
      around.pop();
      if (skipped > 0) {
        skipped--;
        return;
      }
      const node = branch.pop();
      if (node && branch.length === 0) visitor.tree(node, around);
    },
    comment(text) {
      visitor.comment?.(text, around);
    },
  };
}

function readText(text: string, choose: (root: XmlElement) => XmlHandler): XmlElement {
  const parser = new SaxesParser({
    xmlns: false,
    position: false,
    defaultXMLVersion: '1.0',
    forceXMLVersion: true,
  });
  const outermost = new Map([['xml', xmlNamespace]]);
  const opened: { element: XmlElement; scope: Map<string, string> }[] = [];
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
    const element = { name: name.slice(colon + 1), uri, attributes, children: [] };
    opened.push({ element, scope });
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
    handler?.close(opened.pop()!.element);
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
