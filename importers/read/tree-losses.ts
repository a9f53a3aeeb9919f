import { textOf, type XmlNode } from '../../src/read/xml.ts';
import { type Losses, unstoredAttributes } from './losses.ts';

/** What a reader takes of an element. One that is only named in `one` or `many` is a text. */
export interface ReadElement {
  /** Child elements of which the first is read. */
  one?: string[];
  /** Child elements that are all read. */
  many?: string[];
  attributes?: string[];
}

/** Counts the content of an element that its reader passes over (rule D53.1). `read` has the elements with children. */
export function countLosses(node: XmlNode, read: Record<string, ReadElement>, losses: Losses): void {
  const { one = [], many = [], attributes = [] } = read[node.name] ?? {};
  for (const name of unstoredAttributes(node.attributes, attributes)) losses.add(`${node.name}@${name}`);
  if (one.length + many.length === 0) return;
  const seen = new Set<string>();
  for (const child of node.children) {
    if (typeof child === 'string') {
      if (child.trim() !== '') losses.add(`text between the elements of ${node.name}`);
    } else if (many.includes(child.name) || (one.includes(child.name) && !seen.has(child.name))) {
      countLosses(child, read, losses);
    } else if (textOf(child).trim() !== '' || unstoredAttributes(child.attributes, []).length > 0) {
      losses.add(`${seen.has(child.name) ? 'a repeated ' : ''}${node.name}/${child.name}`);
    }
    if (typeof child !== 'string') seen.add(child.name);
  }
}
