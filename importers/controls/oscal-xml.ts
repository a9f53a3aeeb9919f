import type { XmlElement } from '../../src/read/xml.ts';
import { childrenOf, textIn, textOf, type XmlNode } from '../../src/read/xml.ts';
import { lineOfXml, plainOfXml, xmlRoot } from './oscal-markup.ts';

// OSCAL has one model in XML and in JSON. These functions convert XML to the JSON form, as far as importers read it.

const namespace = 'http://csrc.nist.gov/ns/oscal/1.0';

/** Whether an element is the root of an OSCAL XML document of a model. */
export const isOscalXml =
  (model: keyof typeof models) =>
  (root: XmlElement): boolean =>
    root.name === model && root.uri === namespace;

const models = { catalog: catalogOf, profile: profileOf, 'mapping-collection': collectionOf };

/** Converts an OSCAL catalog, profile or mapping-collection to the value of its JSON, but with plain texts. */
export function valueOfXml(root: XmlNode): unknown {
  return { [root.name]: models[root.name as keyof typeof models](root), [xmlRoot]: root };
}

/** Only attributes that exist: the schema reports a missing one. */
const attributesOf = ({ attributes }: XmlNode, ...names: string[]) =>
  Object.fromEntries(
    names.filter((name) => attributes[name] !== undefined).map((name) => [name, attributes[name]]),
  );

const allOf = (node: XmlNode, name: string, read: (child: XmlNode) => unknown) =>
  childrenOf(node, name).map(read);

const blocksIn = (node: XmlNode, name: string) =>
  childrenOf(node, name)
    .map(({ children }) => plainOfXml(children))
    .join('\n\n');

const titleOf = (node: XmlNode) =>
  childrenOf(node, 'title')
    .slice(0, 1)
    .map((title) => ['title', lineOfXml(title)]);

const marksOf = (node: XmlNode) => ({
  props: allOf(node, 'prop', (prop) => attributesOf(prop, 'name', 'ns', 'value', 'class')),
  links: allOf(node, 'link', (link) => attributesOf(link, 'href', 'rel')),
});

function metadataOf(root: XmlNode): unknown {
  const [metadata] = childrenOf(root, 'metadata');
  if (!metadata) return undefined;
  const texts = ['version', 'last-modified'].map((name) => [name, textIn(metadata, name).trim()]);
  return { ...Object.fromEntries([...titleOf(metadata), ...texts]), ...marksOf(metadata) };
}

function catalogOf(root: XmlNode): unknown {
  return {
    metadata: metadataOf(root),
    ...groupOf(root),
  };
}

function groupOf(node: XmlNode): object {
  return {
    ...Object.fromEntries(titleOf(node)),
    params: allOf(node, 'param', parameterOf),
    controls: allOf(node, 'control', controlOf),
    groups: allOf(node, 'group', groupOf),
  };
}

function controlOf(node: XmlNode): unknown {
  return {
    ...attributesOf(node, 'id', 'class'),
    ...Object.fromEntries(titleOf(node)),
    ...marksOf(node),
    params: allOf(node, 'param', parameterOf),
    parts: allOf(node, 'part', partOf),
    controls: allOf(node, 'control', controlOf),
  };
}

function parameterOf(node: XmlNode): unknown {
  const [label] = childrenOf(node, 'label');
  const [select] = childrenOf(node, 'select');
  const choices = (from: XmlNode) => allOf(from, 'choice', (choice) => lineOfXml(choice));
  return {
    ...attributesOf(node, 'id'),
    ...(label ? { label: lineOfXml(label) } : {}),
    usage: blocksIn(node, 'usage'),
    ...(select ? { select: { ...attributesOf(select, 'how-many'), choice: choices(select) } } : {}),
    values: childrenOf(node, 'value').map(textOf),
    props: marksOf(node).props,
  };
}

const noProse = new Set(['title', 'prop', 'link', 'part']);

function partOf(node: XmlNode): unknown {
  const prose = node.children
    .filter((child) => typeof child !== 'string')
    .filter((child) => !noProse.has(child.name));
  return {
    ...attributesOf(node, 'id', 'name', 'ns'),
    ...marksOf(node),
    prose: plainOfXml(prose),
    parts: allOf(node, 'part', partOf),
  };
}

function profileOf(root: XmlNode): unknown {
  return {
    metadata: metadataOf(root),
    imports: allOf(root, 'import', importOf),
    modify: {
      'set-parameters': childrenOf(root, 'modify').flatMap((each) =>
        allOf(each, 'set-parameter', setParameterOf),
      ),
      alters: childrenOf(root, 'modify').flatMap((each) => childrenOf(each, 'alter')),
    },
    'back-matter': backMatterOf(root),
  };
}

function backMatterOf(root: XmlNode): unknown {
  return {
    resources: childrenOf(root, 'back-matter').flatMap((each) => allOf(each, 'resource', resourceOf)),
  };
}

function collectionOf(root: XmlNode): unknown {
  return {
    metadata: metadataOf(root),
    mappings: allOf(root, 'mapping', mappingOf),
    'back-matter': backMatterOf(root),
  };
}

function mappingOf(node: XmlNode): unknown {
  const resource = (name: string) => allOf(node, name, (each) => attributesOf(each, 'href'))[0];
  return {
    'source-resource': resource('source-resource'),
    'target-resource': resource('target-resource'),
    props: marksOf(node).props,
    maps: allOf(node, 'map', mapOf),
  };
}

function mapOf(node: XmlNode): unknown {
  const items = (name: string) => allOf(node, name, (item) => attributesOf(item, 'id-ref'));
  const [relationship] = childrenOf(node, 'relationship');
  return {
    // The published versions of the model differ: an attribute, or an element with the namespace.
    ...attributesOf(node, 'ns', 'relationship'),
    ...(relationship
      ? { ...attributesOf(relationship, 'ns'), relationship: textOf(relationship).trim() }
      : {}),
    sources: items('source'),
    targets: items('target'),
    props: marksOf(node).props,
    remarks: blocksIn(node, 'remarks'),
  };
}

function setParameterOf(node: XmlNode): unknown {
  return {
    ...attributesOf(node, 'param-id'),
    values: childrenOf(node, 'value').map(textOf),
    label: childrenOf(node, 'label').map(lineOfXml).join(' '),
    select: { choice: childrenOf(node, 'select').flatMap((each) => allOf(each, 'choice', lineOfXml)) },
    constraints: childrenOf(node, 'constraint').map((each) => ({
      description: blocksIn(each, 'description'),
    })),
  };
}

function resourceOf(node: XmlNode): unknown {
  return {
    ...attributesOf(node, 'uuid'),
    ...Object.fromEntries(titleOf(node)),
    props: marksOf(node).props,
    rlinks: allOf(node, 'rlink', (link) => attributesOf(link, 'href')),
  };
}

function importOf(node: XmlNode): unknown {
  const selections = (name: string) =>
    allOf(node, name, (selection) => ({
      ...attributesOf(selection, 'with-child-controls'),
      'with-ids': allOf(selection, 'with-id', (id) => lineOfXml(id)),
      matching: allOf(selection, 'matching', (each) => attributesOf(each, 'pattern')),
    }));
  return {
    ...attributesOf(node, 'href'),
    ...(childrenOf(node, 'include-all').length > 0 ? { 'include-all': {} } : {}),
    ...(childrenOf(node, 'include-controls').length > 0
      ? { 'include-controls': selections('include-controls') }
      : {}),
    'exclude-controls': selections('exclude-controls'),
  };
}
