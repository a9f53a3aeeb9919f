import { XMLParser } from 'fast-xml-parser';
import { ImportError } from '../errors.ts';
import type { Kind } from '../ledger.ts';
import { shown } from './text.ts';

/** An element with its content in document order; names are local names. */
export interface XmlNode {
  name: string;
  attributes: Record<string, string>;
  children: (XmlNode | string)[];
}

type Ordered = Record<string, unknown>;

const attributesKey = ':@';
const textKey = '#text';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  htmlEntities: true,
  // The limits are meant for entities that a DOCTYPE declares, and the gate lets none pass.
  processEntities: { enabled: true, maxExpandedLength: Number.POSITIVE_INFINITY },
});

/**
 * The root element of an XML text that has passed the gate (`readXml`), and nothing else: this parser checks nothing
 * itself. Nothing is taken for a number and no blank is dropped. Throws `ImportError` for what the parser refuses.
 */
export function readTree(text: string, kind: Kind): XmlNode {
  let ordered: Ordered[];
  try {
    ordered = parser.parse(text) as Ordered[];
  } catch (error) {
    throw new ImportError(`the XML cannot be read: ${shown((error as Error).message, 200)}`, kind);
  }
  const root = ordered.map(toNode).find((node) => typeof node !== 'string');
  if (!root) throw new ImportError('the document has no root element', kind);
  return root;
}

function toNode(ordered: Ordered): XmlNode | string {
  const name = Object.keys(ordered).find((key) => key !== attributesKey)!;
  if (name === textKey) return String(ordered[textKey]);
  return {
    name,
    attributes: (ordered[attributesKey] ?? {}) as Record<string, string>,
    children: (ordered[name] as Ordered[]).map(toNode),
  };
}

/** The child elements of a name, in document order. */
export function childrenOf(node: XmlNode, name: string): XmlNode[] {
  return node.children.filter((child): child is XmlNode => typeof child !== 'string' && child.name === name);
}

/** The text of an element, markup inside it left out. */
export function textOf(node: XmlNode): string {
  return node.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** The text of the first child element of a name; `""` if there is none. */
export function textIn(node: XmlNode, name: string): string {
  const child = childrenOf(node, name)[0];
  return child ? textOf(child) : '';
}
