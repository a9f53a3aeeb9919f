import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { readShape } from '../read/json-shape.ts';
import { closeUp, collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import { type ControlsResult, catalogRecord, controlRecord, inCatalogOrder } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';
import { is800171, read800171 } from './oscal-800-171.ts';
import { isWithdrawn, partsOf, readParameters, readStatements } from './oscal-controls.ts';
import { readAssessment } from './oscal-objectives.ts';
import { is80053, releaseOf } from './oscal-release.ts';
import { isRendered, readRendered } from './oscal-rendered.ts';
import {
  type OscalControl,
  type OscalLink,
  type OscalParameter,
  type OscalPart,
  type OscalProperty,
  oscalCatalog,
  oscalCatalogHead,
} from './oscal-shape.ts';
import { createRenderProse, type RenderProse } from './parameters.ts';
import { renderStatement } from './statement.ts';

const kind = 'oscal-catalog';
const framework = 'nist-800-53';

/** True for a JSON value with the shape of an OSCAL catalog. */
export function isOscalCatalog(value: unknown): boolean {
  return typeof (value as { catalog?: unknown } | null)?.catalog === 'object';
}

/**
 * Reads SP 800-53 Rev 4 or 5, or SP 800-171 Rev 3, from an OSCAL catalog in JSON (rules F5 and F6). Returns only a
 * reason for other publications, and the part of 800-53 in a catalog that a tool resolved from a profile (rule D29.6).
 * Throws `ImportError` for a broken or empty catalog, and for a repeated or unknown id.
 */
export function parseOscalCatalog(value: unknown): ControlsResult {
  const { metadata } = readShape(oscalCatalogHead, value, kind).catalog;
  if (is800171(metadata)) return read(read800171, value);
  if (is80053(metadata) && isRendered(metadata)) return read(readRendered, value);
  if (!is80053(metadata)) {
    const what = isResolved(metadata) ? 'a catalog resolved from a profile' : 'an OSCAL catalog';
    return { kind, records: null, reason: `${what} of another publication: ${excerpt(metadata.title, 120)}` };
  }
  if (isResolved(metadata)) {
    const reason = `a catalog resolved from a profile contains only part of 800-53: import the catalog and the profile instead`;
    const identifiers = idsIn((value as { catalog: unknown }).catalog);
    const part = { framework, version: releaseOf(metadata, kind).version, identifiers };
    return { kind, records: null, reason, part };
  }
  return read(readCatalog, value);
}

function read(reader: (value: unknown) => ControlsResult, value: unknown): ControlsResult {
  try {
    return reader(value);
  } catch (error) {
    if (error instanceof ImportError) error.kind = kind;
    throw error;
  }
}

function isResolved(metadata: { title: string; props: OscalProperty[]; links: OscalLink[] }): boolean {
  return (
    /\bbaseline\b/i.test(metadata.title) ||
    metadata.props.some((property) => property.name === 'resolution-tool') ||
    metadata.links.some((link) => link.rel === 'source-profile' || link.rel === 'resolution-source')
  );
}

function idsIn(node: unknown): string[] {
  const { id, groups, controls } = (node ?? {}) as Record<string, unknown>;
  const own = typeof id === 'string' ? canonicalIdentifier(framework, id) : null;
  const below = [groups, controls].flatMap((each) => (Array.isArray(each) ? each : []));
  return [...(own === null ? [] : [own]), ...below.flatMap(idsIn)];
}

function readCatalog(value: unknown): ControlsResult {
  const { catalog } = readShape(oscalCatalog, value, kind);
  const { version, edition, warnings } = releaseOf(catalog.metadata, kind);
  const flat = catalog.groups.flatMap((group, index) =>
    flatten(group.controls, `/catalog/groups/${index}`, null).map((each) => ({
      ...each,
      family: group.title,
    })),
  );
  const identifiers = new Set(flat.map((each) => each.identifier));
  const parameters = readParameters(
    flat.map((each) => each.control),
    labelOfParameter,
  );
  const render = createRenderProse(parameters, warnings);
  const controls = flat.map(({ control, identifier, family }) =>
    readControl(control, identifier, collapseLine(family), identifiers, render, warnings),
  );
  return { kind, records: [catalogRecord(kind, { framework, version, edition }, controls)], warnings };
}

interface FlatControl {
  control: OscalControl;
  identifier: string;
}

/** A family's controls with their enhancements. The id gives the identifier: labels differ between files. */
function flatten(controls: OscalControl[], pointer: string, base: string | null): FlatControl[] {
  return controls.flatMap((control, index) => {
    const here = `${pointer}/controls/${index}`;
    const identifier = /^[a-z]{2}-\d+(\.\d+)?$/.test(control.id)
      ? canonicalIdentifier(framework, control.id)
      : null;
    if (identifier === null)
      throw new ImportError(`${here}/id: "${excerpt(control.id)}" is not an id of 800-53`);
    if (base === null ? identifier.includes('(') : !identifier.startsWith(`${base}(`))
      throw new ImportError(`${here}/id: ${identifier} does not belong under ${base ?? 'a family'}`);
    return [{ control, identifier }, ...flatten(control.controls, here, identifier)];
  });
}

function labelOfParameter({ label, props }: OscalParameter): string {
  return props.find(({ name }) => name === 'alt-label')?.value ?? label;
}

function readControl(
  control: OscalControl,
  identifier: string,
  family: string,
  identifiers: Set<string>,
  render: RenderProse,
  warnings: string[],
): ControlRecord {
  const title = collapseLine(control.title);
  if (isWithdrawn(control)) {
    const withdrawnInto = readTargets(control, identifier, identifiers, warnings);
    return controlRecord(framework, { identifier, title, family, status: 'withdrawn', withdrawnInto });
  }
  const statementParts = readStatements(partsOf(control, 'statement'), identifier, render, labelOf);
  const statement = renderStatement(statementParts);
  if (statement === '') throw new ImportError(`${identifier} has no statement and is not withdrawn`);
  const guidance = partsOf(control, 'guidance').map((part) =>
    closeUp(collapseLines(render(part.prose, `the guidance of ${identifier}`))),
  );
  const related = [...control.links, ...partsOf(control, 'guidance').flatMap((part) => part.links)]
    .filter((link) => link.rel === 'related')
    .map((link) => rootOf(link.href))
    .filter((target) => target !== null && identifiers.has(target)) as string[];
  return controlRecord(framework, {
    identifier,
    title,
    family,
    statement,
    statementParts,
    guidance: guidance.join('\n\n').trim(),
    related: [...new Set(related)],
    ...readAssessment(control, identifier, render),
  });
}

function readTargets(
  control: OscalControl,
  identifier: string,
  identifiers: Set<string>,
  warnings: string[],
): string[] {
  const links = control.links.filter(({ rel }) => rel === 'incorporated-into' || rel === 'moved-to');
  const targets = new Set<string>();
  for (const href of new Set(links.map((link) => link.href))) {
    const target = rootOf(href);
    if (target !== null && identifiers.has(target)) targets.add(target);
    else
      warnings.push(
        `${identifier} is incorporated into "${excerpt(href)}", which is not a control of the catalog`,
      );
  }
  return inCatalogOrder(framework, targets);
}

/** The control of a link: `#ac-2_smt.k` is AC-2. */
function rootOf(href: string): string | null {
  const match = /^#([a-z]{2}-\d+(?:\.\d+)?)(?:_|$)/.exec(href);
  return match ? canonicalIdentifier(framework, match[1]!) : null;
}

/** The published label: without a leading zero, and not that of 800-53A. */
function labelOf({ props }: OscalPart): string {
  const labels = props.filter((property) => property.name === 'label' && property.class !== 'sp800-53a');
  const label = labels.find((each) => each.class === undefined) ?? labels[0];
  return (label?.value.trim() ?? '').replace(/^(\(?)0+(?=\d)/, '$1');
}
