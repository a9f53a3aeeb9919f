import type { z } from 'zod';
import { oscalNamespace } from '../../src/base/ids.ts';
import { isObject } from '../../src/base/json.ts';
import { renderedProp } from '../../src/catalog/controls/oscal.ts';
import type { Kind } from '../../src/read/import-error.ts';
import { textOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { readShape } from '../read/json-shape.ts';
import { createLosses } from '../read/losses.ts';
import {
  isBlockText,
  isLineText,
  lineOfXml,
  plainOfXml,
  plainTexts,
  withPlainTexts,
} from './oscal-markup.ts';
import type { OscalMetadata, OscalProperty } from './oscal-shape.ts';

/** Whether a value has the form of an OSCAL document of a model. */
export function isOscal(value: unknown, model: 'catalog' | 'profile' | 'mapping-collection'): boolean {
  return isObject(value) && typeof value[model] === 'object';
}

const xmlNamespace = 'http://csrc.nist.gov/ns/oscal/1.0';

/** Whether an element is the root of an OSCAL XML document of a model. */
export const isOscalXml =
  (model: 'catalog' | 'profile' | 'mapping-collection') =>
  ({ name, uri }: XmlElement): boolean =>
    name === model && uri === xmlNamespace;

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

/**
 * Reads a document of OSCAL in JSON, or made of XML: what its shape has, with plain texts, and a warning for each kind of
 * other content, with its count (rule D53.1). Throws `ImportError`.
 */
export function readOscal<T extends object>(
  shape: z.ZodType<T>,
  value: unknown,
  kind: Kind,
): { document: T; unread: string[] } {
  const document = readShape(shape, value, kind);
  const [{ metadata }] = Object.values(document) as [{ metadata: OscalMetadata }];
  if (isRendered(metadata)) return { document, unread: [] };
  const unread = unreadIn(value as object, document);
  return { document: plainTexts in (value as object) ? document : withPlainTexts(document), unread };
}

/** True for the metadata of a catalog that Gapstone exported (rule D30.1). */
export function isRendered({ props }: OscalMetadata): boolean {
  return hasProp(props, renderedProp);
}

/** Whether some properties have one of ours with its value. */
export function hasProp(props: OscalProperty[], { name, value }: OscalProperty): boolean {
  return ownPropsOf(props, name).includes(value);
}

/** The values of our property with a name. */
export function ownPropsOf(props: OscalProperty[], name: string): string[] {
  return props.filter((each) => each.name === name && each.ns === oscalNamespace).map(({ value }) => value);
}

/** The first value of our property with a name. */
export const ownPropOf = (props: OscalProperty[], name: string): string | undefined =>
  ownPropsOf(props, name)[0];

/** No content: names and versions for machines, and what orders or groups a resolved catalog. */
const noContent = /^(?:uuid|id|n|class|oscal-version|sort-id|published|\$schema)$/;

/** The names of properties that are read, by the element that holds them. */
const props: Record<string, string[]> = {
  metadata: ['resolution-tool', 'framework-version-identifier'],
  control: ['label', 'status'],
  param: ['label', 'aggregates', 'alt-label'],
  part: ['label', 'method'],
  map: ['reference'],
};
/** The relations of links that are read. */
const links: Record<string, string[]> = {
  metadata: ['source-profile'],
  control: ['related', 'incorporated-into', 'moved-to', 'addressed-by'],
  part: ['related', 'assessment-for', 'corresp'],
};
const objectives = ['assessment-objective', 'objective'];
/** The names of parts that are read, by the element or part that holds them. A statement and its items hold any. */
const parts: Record<string, string[]> = {
  control: ['statement', 'guidance', 'assessment-method', 'assessment', ...objectives],
  'assessment-objective': objectives,
  objective: objectives,
  'assessment-method': ['assessment-objects', 'objects'],
  assessment: ['assessment-objects', 'objects'],
};

/** `params` and `param`, `parties` and `party`. */
const singular = (name: string) => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

const textIn = (value: unknown, name: string) =>
  isObject(value) && typeof value[name] === 'string' ? value[name] : '';

function unreadIn(document: object, read: object): string[] {
  const losses = createLosses();

  /** `kind` is the element of a value; `holder` is the name of a part, or `item` in a statement. */
  function visit(stated: unknown, read: unknown, kind: string, holder: string): void {
    if (!isObject(stated) || !isObject(read)) return;
    for (const [key, value] of Object.entries(stated)) {
      const name = singular(key);
      if (noContent.test(name)) continue;
      const itemsRead = [read[key]].flat();
      for (const [index, item] of [value].flat().entries()) {
        if (name === 'prop' || name === 'link' || name === 'part')
          visitNamed(item, itemsRead[index], name, kind, holder);
        else if (!Object.hasOwn(read, key)) losses.add(`${kind} ${name}`);
        else visit(item, itemsRead[index], name, name);
      }
    }
  }

  function visitNamed(item: unknown, read: unknown, what: string, kind: string, holder: string): void {
    const name = textIn(item, what === 'link' ? 'rel' : 'name').replaceAll('_', '-');
    const inside = what === 'part' ? holder : kind;
    const isItem = what === 'part' && (holder === 'statement' || holder === 'item');
    const known = { prop: props, link: links, part: parts }[what]![inside];
    const isKnown = isItem || known?.includes(name) || (what === 'prop' && noContent.test(name));
    if (!isKnown && textIn(item, 'ns') !== oscalNamespace) losses.add(`${inside} ${what} ${name}`);
    else if (what === 'part') visit(item, read, 'part', isItem ? 'item' : name);
  }

  for (const [model, stated] of Object.entries(document))
    visit(stated, (read as Record<string, unknown>)[model], model, model);
  return losses.warnings();
}
