import { textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { isBlockText, isLineText, lineOfXml, plainOfXml, plainTexts } from './oscal-markup.ts';

const namespace = 'http://csrc.nist.gov/ns/oscal/1.0';

/** Whether an element is the root of an OSCAL XML document of a model. */
export const isOscalXml =
  (model: 'catalog' | 'profile' | 'mapping-collection') =>
  ({ name, uri }: XmlElement): boolean =>
    name === model && uri === namespace;

/** Converts a document of OSCAL in XML to the value of its JSON, but with plain texts. */
export function valueOfXml(root: XmlNode): unknown {
  return { [root.name]: objectOf(root), [plainTexts]: true };
}

/** Elements that JSON has once. Of any other one it has a list, most often with an `s` at its end. */
const single = new Set([
  'metadata',
  'title',
  'version',
  'last-modified',
  'remarks',
  'label',
  'usage',
  'select',
  'description',
  'back-matter',
  'modify',
  'merge',
  'include-all',
  'source-resource',
  'target-resource',
  'relationship',
]);
const listOf = (name: string) => (/s$|^choice$|^matching$/.test(name) ? name : `${name}s`);
const plainElements = new Set(['version', 'last-modified', 'value', 'relationship']);
/** What a part has beside the elements of its prose. */
const besideProse = new Set(['title', 'prop', 'link', 'part']);

function objectOf(node: XmlNode): object {
  const stated = Object.entries(node.attributes).filter(([name]) => !/^xmlns|:/.test(name));
  const object: Record<string, unknown> = Object.fromEntries(stated);
  const prose: XmlNode[] = [];
  for (const child of node.children) {
    if (typeof child === 'string') continue;
    const { name } = child;
    if (node.name === 'part' && !besideProse.has(name)) prose.push(child);
    else if (single.has(name)) object[name in object ? `repeated ${name}` : name] = fieldOf(child);
    else {
      const list = listOf(name);
      object[list] = [...((object[list] ?? []) as unknown[]), fieldOf(child)];
    }
  }
  if (prose.length > 0) object.prose = plainOfXml(prose);
  return object;
}

function fieldOf(node: XmlNode): unknown {
  const { name } = node;
  if (plainElements.has(name)) return textOf(node).trim();
  if (name === 'with-id' || isLineText(name)) return lineOfXml(node);
  return isBlockText(name) ? plainOfXml(node.children) : objectOf(node);
}
