import type { XmlElement, XmlHandler } from '../../src/read/xml.ts';

/** An element and its content in document order, with local names. */
export interface XmlNode {
  name: string;
  attributes: Record<string, string>;
  children: (XmlNode | string)[];
}

/** Builds the tree of a small document from the events of `readXml`, with all blanks. */
export class XmlTree implements XmlHandler {
  root: XmlNode = { name: '', attributes: {}, children: [] };
  private readonly opened: XmlNode[] = [];

  open({ local, attributes }: XmlElement): void {
    const node: XmlNode = { name: local, attributes, children: [] };
    const parent = this.opened.at(-1);
    if (parent) parent.children.push(node);
    else this.root = node;
    this.opened.push(node);
  }

  text(text: string): void {
    this.opened.at(-1)!.children.push(text);
  }

  close(): void {
    this.opened.pop();
  }
}

/** The child elements with a name, in document order. */
export function childrenOf(node: XmlNode, name: string): XmlNode[] {
  return node.children.filter((child): child is XmlNode => typeof child !== 'string' && child.name === name);
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
