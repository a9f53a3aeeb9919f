import { isPublished } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import {
  type ControlsResult,
  catalogRecord,
  cciRecord,
  parentIn,
  withKind,
  withoutParts,
} from './catalog.ts';
import type { CatalogRecord } from './control-record.ts';
import { isControl, isWithdrawn, readControl } from './oscal-control.ts';
import { readOscal } from './oscal-document.ts';
import { type Publication, publicationOf } from './oscal-publication.ts';
import {
  type OscalCatalog,
  type OscalControl,
  type OscalGroup,
  type OscalMetadata,
  type OscalParameter,
  oscalCatalog,
} from './oscal-shape.ts';
import { createTexts, ownTexts } from './oscal-texts.ts';

const kind = 'oscal-catalog';
const isCsf = /^(?:the )?(?:NIST )?(?:Cybersecurity Framework|CSF)\b/i;

/**
 * Reads an OSCAL catalog: of SP 800-53 Rev 4 or 5 (rule F5), of SP 800-171 Rev 3 (rule F6), an export of ours (rule
 * D30.1), or any other publication, which is a framework of its own with the given name or that of its title (rule
 * D40.1). Returns only a reason, with the controls in it, for a catalog that a tool resolved from a profile (rule
 * D29.6). Throws `ImportError` for a broken or empty catalog, and for a repeated or unknown id.
 */
export function parseOscalCatalog(value: unknown, name?: string): ControlsResult {
  return withKind(kind, () => {
    const {
      document: { catalog },
      unread,
    } = readOscal(oscalCatalog, value, kind);
    const publication = publicationOf(catalog.metadata, name);
    if (isResolved(catalog.metadata)) return partOf(catalog, publication);
    const { warnings } = publication;
    warnings.push(...unread);
    return { kind, records: [readCatalog(catalog, publication)], warnings };
  });
}

function isResolved({ props, links }: OscalMetadata): boolean {
  return (
    props.some(({ name }) => name === 'resolution-tool') || links.some(({ rel }) => rel === 'source-profile')
  );
}

function partOf(catalog: OscalCatalog, publication: Publication): ControlsResult {
  const { framework, version } = publication;
  const identifiers = membersOf(catalog).flatMap(({ control }) => {
    try {
      return publication.identifierOf(control);
    } catch {
      return [];
    }
  });
  const reason = `a catalog resolved from a profile contains only part of ${framework}: import the catalog and the profile instead`;
  return { kind, records: null, reason, part: { framework, version, identifiers } };
}

/** A control with its place in a catalog. */
interface Member {
  control: OscalControl;
  /** The control that holds it. */
  above: OscalControl | null;
  family: string;
}

/** The controls of a catalog, each before those below it. The titles of nested groups make one family. */
function membersOf(group: OscalGroup, family = ''): Member[] {
  const below = (controls: OscalControl[], above: OscalControl | null): Member[] =>
    controls.flatMap((control) => [
      { control, above, family },
      ...below(control.controls.filter(isControl), control),
    ]);
  return [
    ...below(group.controls, null),
    ...group.groups.flatMap((each) =>
      membersOf(each, [family, each.title].filter((title) => title !== '').join(' / ')),
    ),
  ];
}

/** Reads the controls of a catalog with plain texts. Adds to the warnings of the publication. Throws `ImportError`. */
export function readCatalog(catalog: OscalCatalog, publication: Publication): CatalogRecord {
  const { framework, version, edition, warnings, frameworkTitle, isOwn } = publication;
  const members = membersOf(catalog);
  const identifiers = new Map(members.map(({ control }) => [control, publication.identifierOf(control)]));
  const known = new Set(identifiers.values());
  const texts = isOwn
    ? ownTexts
    : createTexts(parametersOf(catalog, members), publication.parameterLabelOf, warnings);
  const context = { publication, texts, targetOf: createTargetOf(identifiers, publication) };
  const former = isCsf.test(catalog.metadata.title) ? formerControls(members) : new Set();
  const controls = members.map(({ control, above, family }) => {
    const identifier = identifiers.get(control)!;
    const parent = above ? identifiers.get(above)! : '';
    // The identifiers of published frameworks and of our exports name the parents.
    const isKnown = isOwn || isPublished(framework) || parent === parentIn(known, identifier);
    const placed = {
      control,
      identifier,
      family,
      parent: isKnown ? undefined : parent,
      isFormer: former.has(control),
    };
    return readControl(placed, context);
  });
  if (framework !== 'cci') return catalogRecord({ framework, version, edition, frameworkTitle }, controls);
  const ccis = controls.map(({ identifier, familyCode, family, statement }) =>
    cciRecord(identifier, familyCode, family, statement),
  );
  return catalogRecord({ framework, version, edition: version }, ccis);
}

function parametersOf(catalog: OscalGroup, members: Member[]): OscalParameter[] {
  const ofGroups = ({ params, groups }: OscalGroup): OscalParameter[] => [
    ...params,
    ...groups.flatMap(ofGroups),
  ];
  return [...ofGroups(catalog), ...members.flatMap(({ control }) => control.params)];
}

/**
 * CSF 2.0 keeps the controls of 1.1 unmarked: where some of its controls have examples or a risk party, those with
 * neither are withdrawn; one that holds others only if all of those are (rule D40.1).
 */
function formerControls(members: Member[]): Set<OscalControl> {
  const isCurrent = ({ parts, props }: OscalControl) =>
    parts.some(({ name }) => name === 'example') || props.some(({ name }) => name === 'risk-party');
  const former = new Set<OscalControl>();
  if (!members.some(({ control }) => isCurrent(control))) return former;
  // What a control holds stands after it.
  for (const { control } of members.toReversed()) {
    const isFormer =
      control.controls.length === 0
        ? !isCurrent(control)
        : control.controls.every((each) => former.has(each) || isWithdrawn(each));
    if (isFormer) former.add(control);
  }
  return former;
}

/** Finds the control that a link leads to, at whatever part of it: `#ac-2_smt.k` is of AC-2. */
function createTargetOf(
  identifiers: Map<OscalControl, string>,
  { framework, isOwn, identifierOf }: Publication,
): (href: string) => string | null {
  const byId = new Map([...identifiers].map(([{ id }, identifier]) => [id, identifier]));
  const known = new Set(byId.values());
  return (href) => {
    const id = href.replace(/^#/, '');
    // Our exports may name controls that they do not have.
    if (isOwn) return identifierOf({ id });
    for (const text of withoutParts(id)) {
      const found = byId.get(text) ?? canonicalIdentifier(framework, text);
      if (found !== null && known.has(found)) return found;
    }
    return null;
  };
}
