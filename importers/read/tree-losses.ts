import { textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { type Losses, unstoredAttributes } from './losses.ts';

/** What a reader takes of an element. One without `one` and `many` is a text. */
export interface ReadElement {
  /** Child elements of which the first is read. */
  one?: string[];
  /** Child elements that are all read. */
  many?: string[];
  attributes?: string[];
  /** Gives the kinds of loss of an element that has rules of its own. */
  losses?: (node: XmlNode, parent: XmlElement) => string[];
}

/** The attributes of markup in a text that have content. */
const markupAttributes = ['alt', 'href', 'idref', 'src', 'title'];
const none: string[] = [];
const signature = 'http://www.w3.org/2000/09/xmldsig#';

/**
 * Counts the content of an element that its reader passes over (rule D53.1). `read` has the elements with children.
 * `defaults` are values by attribute that say nothing, as the format takes them for granted.
 */
export function countLosses(
  node: XmlNode,
  read: Record<string, ReadElement>,
  losses: Losses,
  defaults = new Map<string, string[]>(),
): void {
  const unread = ({ name, attributes }: XmlElement) =>
    unstoredAttributes(attributes, read[name]?.attributes ?? none).filter(
      (attribute) => !defaults.get(attribute)?.includes(attributes[attribute]!.trim()),
    );

  function hasContent(node: XmlNode): boolean {
    if (node.uri === signature) return false;
    return (
      unread(node).length > 0 ||
      node.children.some((child) => (typeof child === 'string' ? child.trim() !== '' : hasContent(child)))
    );
  }

  function attributes(element: XmlElement): void {
    for (const name of unread(element)) losses.add(`${element.name}@${name}`);
  }

  /** `seen` has the first child of each name of which one is read. */
  function child(parent: XmlElement, node: XmlNode | string, seen: Map<string, XmlNode>): void {
    if (typeof node === 'string') {
      if (node.trim() !== '') losses.add(`text of ${parent.name}`);
      return;
    }
    const { name, uri } = node;
    const { one, many } = read[parent.name] ?? {};
    const isOwn = uri === parent.uri;
    const isOne = isOwn && one?.includes(name) === true;
    const first = isOne ? seen.get(name) : undefined;
    if (isOne && !first) seen.set(name, node);
    if ((isOne && !first) || (isOwn && many?.includes(name))) element(node, parent);
    else if (hasContent(node) && !(first && textOf(first).trim() === textOf(node).trim()))
      losses.add(`${first ? 'a repeated ' : ''}${parent.name}/${name}`);
  }

  function element(node: XmlNode, parent: XmlElement = node): void {
    const shape = read[node.name] ?? {};
    if (shape.losses) {
      for (const kind of shape.losses(node, parent)) losses.add(kind);
      return;
    }
    attributes(node);
    if (shape.one || shape.many) {
      const seen = new Map<string, XmlNode>();
      for (const each of node.children) child(node, each, seen);
    } else markup(node);
  }

  function markup(node: XmlNode): void {
    for (const each of node.children) {
      if (typeof each === 'string') continue;
      for (const name of markupAttributes)
        if ((each.attributes[name] ?? '').trim() !== '') losses.add(`${each.name}@${name} in a text`);
      markup(each);
    }
  }

  element(node);
}
