import { canonicalIdentifier, familyCodeOf } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../errors.ts';
import { readShape } from '../read/json.ts';
import type { XmlElement } from '../read/xml.ts';
import { type ControlsResult, catalogRecord, controlRecord, inCatalogOrder } from './catalog.ts';
import { parseOscalCatalog } from './oscal-catalog.ts';
import { parseOscalProfile } from './oscal-profile.ts';
import { is80053 } from './oscal-release.ts';
import { oscalAny } from './oscal-shape.ts';
import { proseOf, treeOfJson, valueOfXml } from './oscal-syntax.ts';
import { createRenderProse, type Parameter, type RenderProse } from './parameters.ts';
import type { ControlRecord, StatementPart } from './record.ts';
import { closeUp, collapseLine, labelOfItem, renderStatement, shown } from './text.ts';
import { childrenOf, readTree, textIn, textOf, type XmlNode } from './tree.ts';

const kind = 'oscal-catalog';
const framework = 'nist-800-171';
const idPrefix = 'SP_800_171_';

const namespace = 'http://csrc.nist.gov/ns/oscal/1.0';

/** True for the root element of an OSCAL XML catalog. */
export function isOscalXmlCatalog(root: XmlElement): boolean {
  return root.local === 'catalog' && root.uri === namespace;
}

/** True for the root element of an OSCAL XML profile. */
export function isOscalXmlProfile(root: XmlElement): boolean {
  return root.local === 'profile' && root.uri === namespace;
}

/**
 * Reads SP 800-171 Rev 3 or SP 800-53 from the text of an OSCAL XML catalog, which has passed the gate (FORMATS 5, 6).
 * Catalogs of other publications, such as the CSF, are skipped. Throws `ImportError` naming the control that is broken.
 */
export function parseOscalXmlCatalog(text: string): ControlsResult {
  const root = readTree(text, kind);
  const metadata = childrenOf(root, 'metadata')[0];
  if (!metadata) throw new ImportError('the catalog has no metadata', kind);
  if (is800171(propertyOf(metadata, publication))) return readCatalog(root, metadata);
  const title = collapseLine(textIn(metadata, 'title'));
  if (is80053({ title })) return parseOscalCatalog(valueOfXml(root));
  const reason = `an OSCAL XML catalog of another publication: ${shown(title, 120)}`;
  return { kind, records: null, reason };
}

/** Reads a baseline of SP 800-53 from the text of its OSCAL XML profile, as `parseOscalProfile` does from JSON. */
export function parseOscalXmlProfile(text: string): ControlsResult {
  return parseOscalProfile(valueOfXml(readTree(text, 'oscal-profile')));
}

/** True for a JSON value in the form of an OSCAL catalog that holds SP 800-171 Rev 3. */
export function isOscal800171(value: unknown): boolean {
  const props = (value as { catalog?: { metadata?: { props?: unknown } } } | null)?.catalog?.metadata?.props;
  return (
    Array.isArray(props) &&
    props.some((property) => property?.name === publication && is800171(String(property.value)))
  );
}

/** Reads SP 800-171 Rev 3 from its OSCAL JSON catalog. Throws `ImportError` naming the requirement that is broken. */
export function parseOscal800171(value: unknown): ControlsResult {
  const root = treeOfJson('catalog', (readShape(oscalAny, value, kind) as { catalog: unknown }).catalog);
  return readCatalog(root, childrenOf(root, 'metadata')[0]!);
}

const publication = 'framework-version-identifier';

function is800171(identifier: string): boolean {
  return /^SP_800_171_3_\d+_\d+$/.test(identifier);
}

function readCatalog(root: XmlNode, metadata: XmlNode): ControlsResult {
  const changed = new Date(textIn(metadata, 'last-modified').trim());
  if (Number.isNaN(changed.getTime()))
    throw new ImportError('the last-modified of the catalog is not a time', kind);
  const warnings: string[] = [];
  try {
    const controls = readControls(root, warnings);
    const head = { framework, version: 'Rev 3', edition: changed.toISOString() };
    return { kind, records: [catalogRecord(kind, head, controls)], warnings };
  } catch (error) {
    if (error instanceof ImportError) error.kind = kind;
    throw error;
  }
}

function readControls(root: XmlNode, warnings: string[]): ControlRecord[] {
  const requirements = childrenOf(root, 'group').flatMap((group) => {
    const family = collapseLine(textIn(group, 'title'));
    return childrenOf(group, 'control').map((node) => ({ node, family, identifier: identifierOf(node) }));
  });
  const identifiers = new Set(requirements.map((each) => each.identifier));
  const render = createRenderProse(readParameters(requirements.map((each) => each.node)), warnings);
  return requirements.map((each) => readRequirement(each, identifiers, render));
}

function identifierOf(node: XmlNode): string {
  const id = node.attributes.id ?? '';
  const identifier = id.startsWith(idPrefix)
    ? canonicalIdentifier(framework, id.slice(idPrefix.length))
    : null;
  if (!identifier?.startsWith('0'))
    throw new ImportError(`the control id "${shown(id)}" is not a requirement of 800-171 Rev 3`);
  return identifier;
}

function readParameters(requirements: XmlNode[]): Map<string, Parameter> {
  const parameters = new Map<string, Parameter>();
  for (const node of requirements.flatMap((requirement) => childrenOf(requirement, 'param'))) {
    const id = node.attributes.id ?? '';
    if (parameters.has(id)) throw new ImportError(`the parameter "${shown(id)}" occurs twice`);
    const select = childrenOf(node, 'select')[0];
    // The usage is the wording of the publication; the label is cut short, and empty in some parameters.
    const usage = collapseLine(childrenOf(node, 'usage').map(textOf).join(' '));
    parameters.set(id, {
      label: usage === '' ? textIn(node, 'label').trim() : usage,
      choices: select ? childrenOf(select, 'choice').map(proseOf) : [],
      many: select?.attributes['how-many'] === 'one-or-more',
      aggregates: [],
    });
  }
  return parameters;
}

function readRequirement(
  { node, family, identifier }: { node: XmlNode; family: string; identifier: string },
  identifiers: Set<string>,
  render: RenderProse,
): ControlRecord {
  if (family === '') throw new ImportError(`the family ${familyCodeOf(framework, identifier)} has no title`);
  const printed = collapseLine(textIn(node, 'title'));
  // A withdrawn requirement has its own number in place of a title.
  const head = { identifier, family, title: printed === identifier ? '' : printed };
  if (propertyOf(node, 'status') === 'withdrawn') {
    const withdrawnInto = readTargets(node, identifier, identifiers);
    return controlRecord(framework, { ...head, status: 'withdrawn', withdrawnInto });
  }
  // Since its version 1.0.1 the file has the statement in the requirement; before, in a control of its own below it.
  const statements = [node, ...childrenOf(node, 'control')].flatMap((each) => partsOf(each, 'statement'));
  const statementParts = statements.flatMap((statement) => readStatement(statement, identifier, render));
  const statement = renderStatement(statementParts);
  if (statement === '')
    throw new ImportError(`the requirement ${identifier} has no statement and is not withdrawn`);
  const paragraphs = partsOf(node, 'guidance').flatMap((part) => childrenOf(part, 'p'));
  const guidance = paragraphs.map((paragraph) => readProse(paragraph, identifier, render)).join('\n\n');
  return controlRecord(framework, { ...head, statement, statementParts, guidance });
}

function readTargets(node: XmlNode, identifier: string, identifiers: Set<string>): string[] {
  const links = childrenOf(node, 'link').filter(
    ({ attributes: { rel } }) => rel === 'incorporated_into' || rel === 'addressed_by',
  );
  const targets = links.map(({ attributes: { href = '' } }) => {
    const target = href.replace(/^#/, '').replace(idPrefix, '');
    if (!identifiers.has(target))
      throw new ImportError(
        `${identifier} is incorporated into "${shown(href)}", which is not a requirement`,
      );
    return target;
  });
  return inCatalogOrder(framework, targets);
}

/** The statement's lead text and its items, side by side; items keep those below them. */
function readStatement(statement: XmlNode, identifier: string, render: RenderProse): StatementPart[] {
  const lead = readPart(statement, `SR-${identifier}`, render);
  return lead.prose === '' ? lead.parts : [{ ...lead, parts: [] }, ...lead.parts];
}

function readPart(node: XmlNode, id: string, render: RenderProse): StatementPart {
  const paragraphs = childrenOf(node, 'p').map((paragraph) => readProse(paragraph, id, render));
  return {
    id,
    label: labelOfItem(id),
    prose: paragraphs.join(' '),
    parts: childrenOf(node, 'part').map((part) => readPart(part, part.attributes.id ?? '', render)),
  };
}

function readProse(node: XmlNode, where: string, render: RenderProse): string {
  return closeUp(collapseLine(render(proseOf(node), where)));
}

function partsOf(node: XmlNode, name: string): XmlNode[] {
  return childrenOf(node, 'part').filter((part) => part.attributes.name === name);
}

function propertyOf(node: XmlNode, name: string): string {
  return childrenOf(node, 'prop').find((prop) => prop.attributes.name === name)?.attributes.value ?? '';
}
