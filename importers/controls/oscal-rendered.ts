import {
  type StoredAssessment,
  type StoredParameter,
  selectionText,
} from '../../src/catalog/controls/assessment-record.ts';
import { canonicalIdentifier, familyCodeOf } from '../../src/catalog/controls/identifier.ts';
import { renderedProp, textFromName, textlessProp, wholeProp } from '../../src/catalog/controls/oscal.ts';
import { idName, shownName } from '../../src/catalog/controls/oscal-assessment.ts';
import type { StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { readShape } from '../read/json-shape.ts';
import { excerpt } from '../read/source-text.ts';
import { type ControlsResult, catalogRecord, controlRecord } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';
import { isWithdrawn, partsOf } from './oscal-controls.ts';
import { ownPropOf, readAssessment } from './oscal-objectives.ts';
import { releaseOf } from './oscal-release.ts';
import {
  type OscalControl,
  type OscalMetadata,
  type OscalPart,
  type OscalProperty,
  oscalCatalog,
} from './oscal-shape.ts';
import { assignment } from './parameters.ts';
import { renderStatement } from './statement.ts';

const kind = 'oscal-catalog';
const framework = 'nist-800-53';

/** True for the metadata of a catalog that Gapstone exported (rule D30.1). */
export function isRendered({ props }: OscalMetadata): boolean {
  return has(props, renderedProp);
}

function has(props: OscalProperty[], { name, ns, value }: OscalProperty): boolean {
  return props.some((each) => each.name === name && each.ns === ns && each.value === value);
}

/** Reads a catalog of 800-53 that Gapstone exported, texts unchanged; a control may lack some. Throws `ImportError`. */
export function readRendered(value: unknown): ControlsResult {
  const { catalog } = readShape(oscalCatalog, value, kind);
  const { version, warnings, ...release } = releaseOf(catalog.metadata, kind);
  // OSCAL requires a time: our exports have this one if no source states any.
  const edition = release.edition.startsWith('1970-01-01') ? '' : release.edition;
  const controls = catalog.groups.flatMap((group) =>
    group.controls
      .flatMap((control) => [control, ...control.controls])
      .map((control) => readControl(control, group.title)),
  );
  return { kind, records: [catalogRecord(kind, { framework, version, edition }, controls)], warnings };
}

function readControl(control: OscalControl, family: string): ControlRecord {
  const identifier = identifierOf(control.id);
  if (control.controls.some((below) => below.controls.length > 0))
    throw new ImportError(`${identifier} has enhancements of enhancements`);
  const targets = (rel: string) =>
    control.links.filter((link) => link.rel === rel).map(({ href }) => identifierOf(href.replace(/^#/, '')));
  const head = {
    identifier,
    // An export writes the identifier for a missing title, and its letters for a missing family.
    title: control.title === identifier ? '' : control.title,
    family: family === familyCodeOf(framework, identifier) ? '' : family,
  };
  if (isWithdrawn(control))
    return controlRecord(framework, {
      ...head,
      status: 'withdrawn',
      withdrawnInto: targets('incorporated-into'),
    });
  const [part] = partsOf(control, 'statement');
  const isWhole = part !== undefined && has(part.props, wholeProp);
  const statementParts = part === undefined || isWhole ? [] : itemsOf(part);
  const statement = isWhole ? part.prose : renderStatement(statementParts);
  if (statement === '' && !has(control.props, textlessProp))
    throw new ImportError(`${identifier} has no statement and is not withdrawn`);
  const guidance = partsOf(control, 'guidance').map(({ prose }) => prose);
  const related = targets('related');
  const textFrom = ownPropOf(control.props, textFromName);
  return controlRecord(framework, {
    ...head,
    statement,
    statementParts,
    guidance: guidance.join('\n\n'),
    related,
    ...(textFrom === undefined ? {} : { textFrom }),
    ...assessmentOf(control),
  });
}

/** Texts unchanged; the words of a parameter follow from its label or its choices. */
function assessmentOf(control: OscalControl): Partial<StoredAssessment> {
  const assessment = readAssessment(control, '', (prose) => prose);
  const parameters = assessment.parameters?.map((parameter, index): StoredParameter => {
    const { label, props } = control.params[index]!;
    const { choices, howMany } = parameter;
    const rebuilt = howMany === null ? assignment(label) : selectionText(choices, howMany === 'one-or-more');
    return {
      ...parameter,
      id: ownPropOf(props, idName) ?? parameter.id,
      text: ownPropOf(props, shownName) ?? rebuilt,
    };
  });
  return { ...assessment, ...(parameters ? { parameters } : {}) };
}

function identifierOf(id: string): string {
  const identifier = canonicalIdentifier(framework, id);
  if (identifier === null) throw new ImportError(`"${excerpt(id)}" is not an id of 800-53`);
  return identifier;
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
