import { isObject } from '../../src/base/json.ts';
import { canonicalIdentifier, oscalId } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { countAt, readShape } from '../read/json-shape.ts';
import { closeUp, collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import {
  type ControlsResult,
  catalogRecord,
  controlRecord,
  inCatalogOrder,
  mostControls,
} from './catalog.ts';
import type { ControlRecord } from './control-record.ts';
import { isWithdrawn, partsOf, readParameters, readStatements } from './oscal-controls.ts';
import { withoutParts } from './oscal-ids.ts';
import { readMarkupOf } from './oscal-markup.ts';
import { readAssessment } from './oscal-objectives.ts';
import { type Publication, publicationOf } from './oscal-publication.ts';
import { isRendered, readRendered } from './oscal-rendered.ts';
import {
  type OscalControl,
  type OscalGroup,
  type OscalLink,
  type OscalMetadata,
  oscalShapes,
} from './oscal-shape.ts';
import { unreadIn } from './oscal-unread.ts';
import { createRenderProse, type RenderProse } from './parameters.ts';
import { parentIn } from './resolve-profiles.ts';
import { renderStatement } from './statement.ts';

const kind = 'oscal-catalog';
const isCsf = /^(?:the )?(?:NIST )?(?:Cybersecurity Framework|CSF)\b/i;

/** True for a JSON value with the shape of an OSCAL catalog. */
export function isOscalCatalog(value: unknown): boolean {
  return typeof (value as { catalog?: unknown } | null)?.catalog === 'object';
}

/**
 * Reads an OSCAL catalog in JSON: of SP 800-53 Rev 4 or 5 (rule F5), of SP 800-171 Rev 3 (rule F6), or of any other
 * publication, which is a framework of its own with the given name or that of its title (rule D40.1). Returns only a
 * reason, with the controls in it, for a catalog that a tool resolved from a profile (rule D29.6). Throws `ImportError`
 * for a broken or empty catalog, and for a repeated or unknown id.
 */
export function parseOscalCatalog(value: unknown, name?: string): ControlsResult {
  try {
    const shapes = oscalShapes(readMarkupOf(value));
    const { metadata } = readShape(shapes.catalogHead, value, kind).catalog;
    if (controlsIn((value as { catalog: unknown }).catalog) > mostControls)
      throw new ImportError(`more than ${mostControls} controls`);
    if (isRendered(metadata)) return readRendered(value, name);
    const publication = publicationOf(metadata, name);
    const { catalog } = readShape(shapes.catalog, value, kind);
    if (isResolved(metadata)) return partOf(catalog, publication);
    publication.warnings.push(...unreadIn(value));
    return readCatalog(catalog, publication);
  } catch (error) {
    if (error instanceof ImportError) error.kind = kind;
    throw error;
  }
}

/** How many controls a catalog has, before its shape is known; the check of the head bounds its depth. */
function controlsIn(value: unknown): number {
  const { controls = [], groups = [] } = value as { controls?: unknown[]; groups?: unknown[] };
  const below = [controls, groups].filter(Array.isArray).flat().filter(isObject);
  return below.reduce<number>((sum, each) => sum + controlsIn(each), countAt(value, ['controls']));
}

function isResolved({ props, links }: OscalMetadata): boolean {
  return (
    props.some(({ name }) => name === 'resolution-tool') || links.some(({ rel }) => rel === 'source-profile')
  );
}

function partOf(catalog: OscalGroup, publication: Publication): ControlsResult {
  const { framework, version } = publication;
  const identifiers = everyControl(catalog).flatMap((control) => {
    try {
      return publication.identifierOf(control);
    } catch {
      return [];
    }
  });
  const reason = `a catalog resolved from a profile contains only part of ${framework}: import the catalog and the profile instead`;
  return { kind, records: null, reason, part: { framework, version, identifiers } };
}

function everyControl({
  controls,
  groups = [],
}: Pick<OscalGroup, 'controls'> & Partial<OscalGroup>): OscalControl[] {
  return [...controls, ...[...controls, ...groups].flatMap(everyControl)];
}

interface FlatControl {
  control: OscalControl;
  identifier: string;
  /** The control that holds it; `""` for none. */
  parent: string;
  family: string;
}

/** The controls of a catalog, those below others too. The titles of nested groups make one family. */
function flatten(group: OscalGroup, publication: Publication, pointer: string, family = ''): FlatControl[] {
  const below = (controls: OscalControl[], pointer: string, above: string): FlatControl[] =>
    controls.flatMap((control, index) => {
      const here = `${pointer}/controls/${index}`;
      const identifier = identifierOf(control, publication, here, above);
      return [
        { control, identifier, parent: above, family },
        ...below(control.controls.filter(isControl), here, identifier),
      ];
    });
  return [
    ...below(group.controls, pointer, ''),
    ...group.groups.flatMap((each, index) => {
      const title = [family, collapseLine(each.title)].filter((text) => text !== '').join(' / ');
      return flatten(each, publication, `${pointer}/groups/${index}`, title);
    }),
  ];
}

function identifierOf(
  control: OscalControl,
  publication: Publication,
  pointer: string,
  above: string,
): string {
  try {
    return publication.identifierOf(control, above);
  } catch (error) {
    throw error instanceof ImportError ? new ImportError(`${pointer}/id: ${error.message}`) : error;
  }
}

/** 800-171 keeps the statement of a requirement in a control below it, before version 1.0.1. */
const isControl = (control: OscalControl) => control.class !== 'security_requirement';

function readCatalog(
  catalog: OscalGroup & { metadata: OscalMetadata },
  publication: Publication,
): ControlsResult {
  const { framework, version, edition, warnings, frameworkTitle } = publication;
  const flat = flatten(catalog, publication, '/catalog');
  const parameters = readParameters(
    [...ofGroups(catalog), ...flat.flatMap(({ control }) => control.params)],
    publication.parameterLabelOf,
  );
  const render = createRenderProse(parameters, warnings);
  const rootOf = createRootOf(flat, framework);
  const identifiers = new Set(flat.map(({ identifier }) => identifier));
  const former = isCsf.test(catalog.metadata.title) ? formerControls(flat) : new Set();
  const controls = flat.map((each) => {
    const { control, identifier, family } = each;
    const title = publication.titleOf(collapseLine(control.title), identifier);
    const id = control.id === oscalId(framework, identifier) ? {} : { oscalId: control.id };
    // Stored where the identifiers do not say so themselves.
    const parent = each.parent === parentIn(identifiers, identifier) ? {} : { parent: each.parent };
    const head = { identifier, family, title, ...id, ...parent };
    if (!isWithdrawn(control) && !former.has(control))
      return controlRecord(framework, { ...head, ...readControl(each, publication, render, rootOf) });
    const withdrawnInto = readTargets(each, framework, rootOf, warnings);
    return controlRecord(framework, { ...head, status: 'withdrawn', withdrawnInto });
  });
  const record = catalogRecord(kind, { framework, version, edition, frameworkTitle }, controls);
  return { kind, records: [record], warnings };
}

const ofGroups = ({ params, groups }: OscalGroup): OscalGroup['params'] => [
  ...params,
  ...groups.flatMap(ofGroups),
];

/**
 * CSF 2.0 keeps the controls of 1.1 unmarked: where some of its controls have examples or a risk party, those with
 * neither are withdrawn; one that holds others only if all of those are (rule D40.1).
 */
function formerControls(flat: FlatControl[]): Set<OscalControl> {
  const isCurrent = ({ parts, props }: OscalControl) =>
    parts.some(({ name }) => name === 'example') || props.some(({ name }) => name === 'risk-party');
  const former = new Set<OscalControl>();
  if (!flat.some(({ control }) => isCurrent(control))) return former;
  // What a control holds stands after it.
  for (const { control } of flat.toReversed()) {
    const isFormer =
      control.controls.length === 0
        ? !isCurrent(control)
        : control.controls.every((each) => former.has(each) || isWithdrawn(each));
    if (isFormer) former.add(control);
  }
  return former;
}

/** Finds the control that a link leads to, at whatever part of it: `#ac-2_smt.k` is of AC-2. */
function createRootOf(flat: FlatControl[], framework: string): (href: string) => string | null {
  const byId = new Map(flat.map(({ control, identifier }) => [control.id, identifier]));
  const identifiers = new Set(byId.values());
  return (href) => {
    for (const id of withoutParts(href.replace(/^#/, ''))) {
      const found = byId.get(id) ?? canonicalIdentifier(framework, id);
      if (found !== null && identifiers.has(found)) return found;
    }
    return null;
  };
}

function readControl(
  { control, identifier }: FlatControl,
  publication: Publication,
  render: RenderProse,
  rootOf: (href: string) => string | null,
): Partial<ControlRecord> {
  const statements = [control, ...control.controls.filter((each) => !isControl(each))]
    .flatMap((each) => partsOf(each, 'statement'))
    .map((part) => ({ ...part, id: publication.statementIdOf?.(identifier) ?? part.id }));
  const statementParts = readStatements(statements, identifier, render, publication.partLabelOf);
  const statement = renderStatement(statementParts);
  if (statement === '' && publication.hasStatements)
    throw new ImportError(`${identifier} has no statement and is not withdrawn`);
  const guidance = partsOf(control, 'guidance');
  const texts = guidance.map(({ prose }) =>
    closeUp(collapseLines(render(prose, `the guidance of ${identifier}`))),
  );
  const related = [...control.links, ...guidance.flatMap((part) => part.links)]
    .filter(({ rel }) => rel === 'related')
    .map(({ href }) => rootOf(href))
    .filter((target) => target !== null);
  return {
    statement,
    statementParts,
    guidance: texts.join('\n\n').trim(),
    related: [...new Set(related)],
    ...readAssessment(control, identifier, render),
  };
}

const successorRels = ['incorporated-into', 'moved-to', 'addressed-by'];
const isSuccessor = ({ rel }: OscalLink) => successorRels.includes((rel ?? '').replaceAll('_', '-'));

function readTargets(
  { control, identifier }: FlatControl,
  framework: string,
  rootOf: (href: string) => string | null,
  warnings: string[],
): string[] {
  const targets = new Set<string>();
  for (const href of new Set(control.links.filter(isSuccessor).map((link) => link.href))) {
    const target = rootOf(href);
    if (target !== null) targets.add(target);
    else
      warnings.push(
        `${identifier} is incorporated into "${excerpt(href)}", which is not a control of the catalog`,
      );
  }
  return inCatalogOrder(framework, targets);
}
