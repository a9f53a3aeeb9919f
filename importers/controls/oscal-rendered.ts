import { oscalNamespace } from '../../src/base/ids.ts';
import {
  assignmentText,
  type StoredAssessment,
  type StoredParameter,
  selectionText,
  withPublished,
} from '../../src/catalog/controls/assessment-record.ts';
import { isPublished } from '../../src/catalog/controls/frameworks.ts';
import { familyCodeOf, identifierOfOscalId } from '../../src/catalog/controls/identifier.ts';
import {
  idName,
  ownNames,
  renderedProp,
  shownName,
  textlessProp,
  wholeProp,
} from '../../src/catalog/controls/oscal.ts';
import type { StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { readShape } from '../read/json-shape.ts';
import { excerpt } from '../read/source-text.ts';
import { type ControlsResult, catalogRecord, cciListRecord, controlRecord } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';
import { isWithdrawn, partsOf } from './oscal-controls.ts';
import { plainTexts } from './oscal-markup.ts';
import { ownPropOf, readAssessment } from './oscal-objectives.ts';
import { editionOf, type OscalRelease, release80053 } from './oscal-publication.ts';
import {
  type OscalControl,
  type OscalGroup,
  type OscalMetadata,
  type OscalPart,
  type OscalProperty,
  oscalShapes,
} from './oscal-shape.ts';
import { renderStatement } from './statement.ts';

const kind = 'oscal-catalog';

/** True for the metadata of a catalog that Gapstone exported (rule D30.1). */
export function isRendered({ props }: OscalMetadata): boolean {
  return has(props, renderedProp);
}

function has(props: OscalProperty[], { name, ns, value }: OscalProperty): boolean {
  return props.some((each) => each.name === name && each.ns === ns && each.value === value);
}

/**
 * Reads a catalog of any framework that Gapstone exported, texts unchanged; `name` is the operator's for one of a site.
 * Throws `ImportError`.
 */
export function readRendered(value: unknown, name?: string): ControlsResult {
  const { catalog } = readShape(oscalShapes(plainTexts).catalog, value, kind);
  const { framework, version, edition, warnings } = releaseOf(catalog.metadata, name);
  const controls = membersOf(catalog).map(({ control, family }) => readControl(framework, control, family));
  if (framework !== 'cci')
    return { kind, records: [catalogRecord(kind, { framework, version, edition }, controls)], warnings };
  const items = controls.map(({ identifier, family, familyCode, statement }) => {
    return { identifier, status: familyCode, type: family, definition: statement, references: [] };
  });
  return { kind, records: [cciListRecord(kind, version, items)], warnings };
}

/** The first exports were of 800-53 alone and did not name it. */
function releaseOf(metadata: OscalMetadata, name?: string): OscalRelease {
  const framework = ownPropOf(metadata.props, ownNames.framework);
  const version = ownPropOf(metadata.props, ownNames.version);
  const edition = editionOf(metadata, kind);
  return {
    ...(framework === undefined || version === undefined
      ? release80053(metadata, kind)
      : { framework: isPublished(framework) ? framework : (name ?? framework), version, warnings: [] }),
    // OSCAL requires a time: our exports have this one if no source states any.
    edition: edition.startsWith('1970-01-01') ? '' : edition,
  };
}

interface Member {
  control: OscalControl;
  family: string;
}

function membersOf({
  controls = [],
  groups = [],
  title = '',
}: Partial<OscalGroup> & { title?: string }): Member[] {
  const below = (control: OscalControl): OscalControl[] => [control, ...control.controls.flatMap(below)];
  const own = controls.flatMap(below).map((control) => ({ control, family: title }));
  return [...own, ...groups.flatMap(membersOf)];
}

function readControl(framework: string, control: OscalControl, family: string): ControlRecord {
  const identifierOf = (id: string) => {
    const identifier = identifierOfOscalId(framework, id);
    if (identifier === null) throw new ImportError(`"${excerpt(id)}" is not an id of ${framework}`);
    return identifier;
  };
  const identifier = identifierOf(control.id);
  const { props } = control;
  const targets = (rel: string) =>
    control.links.filter((link) => link.rel === rel).map(({ href }) => identifierOf(href.replace(/^#/, '')));
  const familyCode = ownPropOf(props, ownNames.cciStatus) ?? ownPart(control, ownNames.familyCode);
  const head = {
    identifier,
    // An export writes the identifier for a missing title, and its letters for a missing family.
    title: ownPart(control, 'title') || (control.title === identifier ? '' : control.title),
    family: framework === 'nist-800-53' && family === familyCodeOf(framework, identifier) ? '' : family,
    ...(familyCode === '' ? {} : { familyCode }),
    ...ownFields(framework, control),
  };
  if (isWithdrawn(control) && framework !== 'cci')
    return controlRecord(framework, {
      ...head,
      status: 'withdrawn',
      withdrawnInto: targets('incorporated-into'),
    });
  const [part] = partsOf(control, 'statement');
  const isWhole = part !== undefined && has(part.props, wholeProp);
  const statementParts = part === undefined || isWhole ? [] : itemsOf(part);
  const statement = isWhole ? part.prose : renderStatement(statementParts);
  if (statement === '' && !isWithdrawn(control) && !has(props, textlessProp))
    throw new ImportError(`${identifier} has no statement and is not withdrawn`);
  const guidance = partsOf(control, 'guidance').map(({ prose }) => prose);
  const textFrom = ownPropOf(props, ownNames.textFrom);
  return controlRecord(framework, {
    ...head,
    statement,
    statementParts,
    guidance: guidance.join('\n\n'),
    related: targets('related'),
    ...(textFrom === undefined ? {} : { textFrom }),
    ...assessmentOf(control),
  });
}

/** What 800-171 Rev 2 and DoD 8500.2 have beyond other frameworks. */
function ownFields(framework: string, control: OscalControl): Partial<ControlRecord> {
  const { props } = control;
  const all = (name: string) =>
    props.filter((each) => each.name === name && each.ns === oscalNamespace).map(({ value }) => value);
  const requirementType = ownPropOf(props, ownNames.requirementType) ?? null;
  const impactCode = ownPropOf(props, ownNames.impactCode) ?? null;
  return {
    requirementType: requirementType as ControlRecord['requirementType'],
    impactCode: impactCode as ControlRecord['impactCode'],
    ...(framework === 'dod-8500'
      ? { macLevels: all(ownNames.macLevel), confidentialityLevels: all(ownNames.confidentialityLevel) }
      : {}),
    threat: ownPart(control, 'threat'),
    resources: ownPart(control, 'resources'),
  };
}

const ownPart = ({ parts }: OscalControl, name: string): string =>
  parts.find((part) => part.name === name && part.ns === oscalNamespace)?.prose ?? '';

/** Texts unchanged; the words of a parameter follow from its label or its choices. */
function assessmentOf(control: OscalControl): Partial<StoredAssessment> {
  const assessment = readAssessment(control, '', (prose) => prose);
  const parameters = assessment.parameters?.map((parameter, index): StoredParameter => {
    const { label, props } = control.params[index]!;
    const { published: _, ...own } = parameter;
    const { choices, howMany } = own;
    const rebuilt =
      howMany === null ? assignmentText(label) : selectionText(choices, howMany === 'one-or-more');
    const read = {
      ...own,
      id: ownPropOf(props, idName) ?? own.id,
      text: ownPropOf(props, shownName) ?? rebuilt,
    };
    return withPublished(read, label);
  });
  return { ...assessment, ...(parameters ? { parameters } : {}) };
}

function itemsOf(statement: OscalPart): StatementPart[] {
  const items = statement.parts.map(readPart);
  return statement.prose === '' ? items : [{ ...readPart(statement), parts: [] }, ...items];
}

function readPart({ id, prose, props, parts }: OscalPart): StatementPart {
  return {
    id: id === '' ? (ownPropOf(props, idName) ?? '') : id,
    label: props.find(({ name }) => name === 'label')?.value ?? '',
    prose,
    parts: parts.map(readPart),
  };
}
