import { oscalNamespace } from '../../src/base/ids.ts';
import { isObject } from '../../src/base/json.ts';
import type { XmlNode } from '../../src/read/xml.ts';
import { createLosses } from '../read/losses.ts';
import { xmlRoot } from './oscal-markup.ts';

/** What importers read of each element of OSCAL, in the names of XML without a plural. */
const read: Record<string, string> = {
  catalog: 'metadata param control group back-matter',
  profile: 'metadata import modify back-matter merge',
  'mapping-collection': 'metadata mapping back-matter',
  metadata: 'title version last-modified prop link',
  group: 'title param control group',
  control: 'title param prop link part control',
  param: 'label usage select value prop',
  select: 'how-many choice',
  part: 'name prop link part',
  import: 'href include-all include-control exclude-control',
  'include-control': 'with-child-control with-id matching',
  'exclude-control': 'with-child-control with-id matching',
  matching: 'pattern',
  // Alterations have a warning of their own.
  modify: 'set-parameter alter',
  'set-parameter': 'param-id value label select constraint',
  constraint: 'description',
  mapping: 'source-resource target-resource map prop',
  'source-resource': 'href type',
  'target-resource': 'href type',
  map: 'relationship source target prop remark',
  source: 'id-ref type',
  target: 'id-ref type',
  'back-matter': 'resource',
  resource: 'title prop rlink',
  rlink: 'href media-type',
};
/** Prose, in JSON one text and in XML elements. */
const prose =
  /^(?:prose|p|[uo]l|li|pre|table|tr|t[dh]|h[1-6]|blockquote|img|br|em|strong|i|b|code|q|su[bp]|a|insert)$/;
/** No content: names and versions for machines, and what orders or groups a resolved catalog. */
const noContent = /^(?:uuid|id|n|class|xmln|oscal-version|sort-id|published|schemaLocation|\$schema)$/;

const props: Record<string, string> = {
  metadata: 'resolution-tool framework-version-identifier',
  control: 'label status sort-id',
  param: 'label aggregates alt-label',
  part: 'label method',
  map: 'reference',
};
const links: Record<string, string> = {
  metadata: 'source-profile',
  control: 'related incorporated-into moved-to addressed-by',
  part: 'related assessment-for corresp',
};
const objective = 'assessment-objective objective';
/** Parts by what holds them; a statement and its items hold any. */
const parts: Record<string, string> = {
  control: `statement guidance assessment-method assessment ${objective}`,
  'assessment-objective': objective,
  objective,
  'assessment-method': 'assessment-objects objects',
  assessment: 'assessment-objects objects',
};

const has = (names: string | undefined, name: string) => (names ?? '').split(' ').includes(name);
/** `params` and `param`, `parties` and `party`: JSON has plurals. */
const singular = (name: string) => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

/** The attributes and elements of a node, of JSON or XML, each with its name in the singular. */
function itemsOf(node: object): [name: string, item: unknown][] {
  if ('children' in node) {
    const { attributes, children } = node as XmlNode;
    const own = Object.entries(attributes).filter(([name]) => !name.includes(':'));
    const elements = children.filter((child) => typeof child !== 'string');
    return [
      ...own.map(([name, value]): [string, unknown] => [singular(name), value]),
      ...elements.map((child): [string, unknown] => [singular(child.name), child]),
    ];
  }
  return Object.entries(node).flatMap(([name, value]) =>
    [value].flat().map((item): [string, unknown] => [singular(name), item]),
  );
}

function attributeOf(node: unknown, name: string): string {
  if (!isObject(node)) return '';
  const value = 'children' in node ? (node as unknown as XmlNode).attributes[name] : node[name];
  return typeof value === 'string' ? value : '';
}

/** Whether an export of Gapstone made a property or a part. */
const isOwn = (item: unknown) => attributeOf(item, 'ns') === oscalNamespace;

/**
 * Returns one warning, with a count, for each kind of content in an OSCAL document that the importers do not store. The
 * caller has validated the document, so its depth is bounded.
 */
export function unreadIn(value: unknown): string[] {
  const document = value as Record<string | symbol, unknown>;
  const model = Object.keys(document).find((name) => name in read)!;
  const losses = createLosses();
  const visit = (node: unknown, kind: string, holder: string) => {
    if (!isObject(node)) return;
    for (const [name, item] of itemsOf(node)) {
      if (noContent.test(name) || (kind === 'part' && prose.test(name))) continue;
      const named = attributeOf(item, name === 'link' ? 'rel' : 'name').replaceAll('_', '-');
      if (name === 'prop') {
        if (!isOwn(item) && !has(props[kind], named) && !noContent.test(named))
          losses.add(`${kind} prop ${named}`);
      } else if (name === 'link') {
        if (!has(links[kind], named)) losses.add(`${kind} link ${named}`);
      } else if (name === 'part') {
        const isItem = holder === 'statement' || holder === 'item';
        if (!isOwn(item) && !isItem && !has(parts[kind === 'part' ? holder : kind], named))
          losses.add(`${kind === 'part' ? holder : kind} part ${named}`);
        else visit(item, 'part', isItem ? 'item' : named);
      } else if (!has(read[kind], name) || (model === 'catalog' && name === 'resource'))
        losses.add(`${kind} ${name}`);
      else if (name in read) visit(item, name, name);
    }
  };
  visit(document[xmlRoot] ?? document[model], model, model);
  return losses.warnings();
}
