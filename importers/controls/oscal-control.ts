import { oscalNamespace } from '../../src/base/ids.ts';
import {
  type ObjectivePart,
  partOfItem,
  type StoredAssessment,
  type StoredParameter,
  statedAssessment,
  withPublished,
} from '../../src/catalog/controls/assessment-record.ts';
import { familyCodeOf, oscalId } from '../../src/catalog/controls/identifier.ts';
import { idName, ownNames, shownName, textlessProp, wholeProp } from '../../src/catalog/controls/oscal.ts';
import { type AssessmentMethod, methodNames, type StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { controlRecord, inCatalogOrder } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';
import { hasProp, ownPropOf, ownPropsOf } from './oscal-document.ts';
import type { Publication } from './oscal-publication.ts';
import type { OscalControl, OscalParameter, OscalPart } from './oscal-shape.ts';
import { aggregatesOf, type CatalogTexts, isMany } from './oscal-texts.ts';

/** The names of parts: of Rev 5 and 800-171, and of Rev 4. */
const objectiveNames = ['assessment-objective', 'objective'];
const methodPartNames = ['assessment-method', 'assessment'];
const objectNames = ['assessment-objects', 'objects'];
const successorRels = ['incorporated-into', 'moved-to', 'addressed-by'];

/** 800-171 keeps the statement of a requirement in a control below it, before version 1.0.1. */
export const isControl = (control: OscalControl) => control.class !== 'security_requirement';

/** True for a control that its publisher withdrew. */
export function isWithdrawn({ props }: OscalControl): boolean {
  return props.some(({ name, value }) => name === 'status' && value.toLowerCase() === 'withdrawn');
}

const partsOf = ({ parts }: { parts: OscalPart[] }, names: string[]) =>
  parts.filter(({ name }) => names.includes(name));

/** A control with its place in a catalog. */
interface PlacedControl {
  control: OscalControl;
  identifier: string;
  family: string;
  /** The identifier of the control above, where the identifiers do not say so. */
  parent: string | undefined;
  /** The publisher keeps it unmarked from a former version. */
  isFormer: boolean;
}

/** What the controls of a catalog are read with. */
interface CatalogContext {
  publication: Publication;
  texts: CatalogTexts;
  /** The control that a link leads to; null for none. */
  targetOf(href: string): string | null;
}

/** Reads a control. Adds to the warnings of the publication. Throws `ImportError` for a missing statement. */
export function readControl(placed: PlacedControl, context: CatalogContext): ControlRecord {
  const { control, identifier, family, parent, isFormer } = placed;
  const { publication, targetOf } = context;
  const { framework, isOwn, warnings } = publication;
  const { props, parts, links } = control;
  const isDod = framework === 'dod-8500';
  const own = (name: string) => ownPropsOf(props, name);
  const ownText = (name: string) =>
    parts.find((part) => part.name === name && part.ns === oscalNamespace)?.prose ?? '';
  const record = controlRecord(framework, {
    identifier,
    family: publication.familyOf(family, identifier),
    familyCode:
      own(ownNames.cciStatus)[0] || ownText(ownNames.familyCode) || familyCodeOf(framework, identifier),
    title: ownText('title') || publication.titleOf(control.title, identifier),
    requirementType: (own(ownNames.requirementType)[0] ?? null) as ControlRecord['requirementType'],
    impactCode: (own(ownNames.impactCode)[0] ?? null) as ControlRecord['impactCode'],
    macLevels: isDod ? own(ownNames.macLevel) : null,
    confidentialityLevels: isDod ? own(ownNames.confidentialityLevel) : null,
    threat: ownText('threat'),
    resources: ownText('resources'),
    oscalId: control.id === oscalId(framework, identifier) ? undefined : control.id,
    parent,
  });
  // A deprecated CCI keeps its definition.
  if (framework === 'cci' || !(isFormer || isWithdrawn(control)))
    return { ...record, ...readContent(control, identifier, context) };
  const withdrawnInto = new Set<string>();
  const successors = links.filter(({ rel = '' }) => successorRels.includes(rel.replaceAll('_', '-')));
  for (const href of new Set(successors.map((link) => link.href))) {
    const target = targetOf(href);
    if (target !== null) withdrawnInto.add(target);
    else
      warnings.push(
        `${identifier} is incorporated into "${excerpt(href)}", which is not a control of the catalog`,
      );
  }
  return {
    ...record,
    status: 'withdrawn',
    withdrawnInto: isOwn ? [...withdrawnInto] : inCatalogOrder(framework, withdrawnInto),
  };
}

/** Statement, guidance, related controls and assessment of a control. Throws `ImportError` for a missing statement. */
function readContent(
  control: OscalControl,
  identifier: string,
  { publication, texts, targetOf }: CatalogContext,
): Partial<ControlRecord> {
  const holders = [control, ...control.controls.filter((each) => !isControl(each))];
  const statements = holders.flatMap((each) => partsOf(each, ['statement']));
  const whole = statements.find(({ props }) => hasProp(props, wholeProp));
  const statementParts = whole ? [] : readStatements(statements, identifier, publication, texts);
  const statement = whole?.prose ?? renderStatement(statementParts);
  const mayLackStatement = !publication.hasStatements || hasProp(control.props, textlessProp);
  if (statement === '' && !mayLackStatement && !isWithdrawn(control))
    throw new ImportError(`${identifier} has no statement and is not withdrawn`);
  const guidance = partsOf(control, ['guidance']);
  const related = [control, ...guidance]
    .flatMap(({ links }) => links)
    .filter(({ rel }) => rel === 'related')
    .map(({ href }) => targetOf(href))
    .filter((target) => target !== null);
  return {
    statement,
    statementParts,
    guidance: guidance
      .map(({ prose }) => texts.paragraphs(prose, `the guidance of ${identifier}`))
      .filter((text) => text !== '')
      .join('\n\n'),
    related: [...new Set(related)],
    textFrom: ownPropOf(control.props, ownNames.textFrom),
    ...readAssessment(control, identifier, texts),
  };
}

/** The lead text and the items of each statement, as siblings. */
function readStatements(
  statements: OscalPart[],
  identifier: string,
  { partLabelOf, statementIdOf }: Publication,
  { prose }: CatalogTexts,
): StatementPart[] {
  const read = (part: OscalPart): StatementPart => ({
    id: idOf(part),
    label: partLabelOf(part),
    prose: prose(part.prose, part.id || identifier),
    parts: part.parts.map(read),
  });
  return statements.flatMap((part) => {
    const { parts, ...lead } = read({ ...part, id: statementIdOf?.(identifier) ?? part.id });
    return lead.prose === '' ? parts : [{ ...lead, parts: [] }, ...parts];
  });
}

/** A statement as plain text (rule D6.4): a line for each part, indented by depth, its label first. */
function renderStatement(parts: StatementPart[], depth = 0): string {
  return parts
    .flatMap(({ label, prose, parts: below }) => {
      const line = [label, prose].filter((text) => text !== '').join(' ');
      return [line === '' ? '' : '  '.repeat(depth) + line, renderStatement(below, depth + 1)];
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** The id of a part, which our exports keep in a property where OSCAL does not allow it. */
const idOf = ({ id, props }: OscalPart) => id || (ownPropOf(props, idName) ?? '');

/** Parameters, objectives and methods of a control (rule D37.1). */
function readAssessment(
  control: OscalControl,
  identifier: string,
  texts: CatalogTexts,
): Partial<StoredAssessment> {
  const readObjective = (part: OscalPart): ObjectivePart => {
    // Of 800-171: the labels of 800-53, which links to its statements too, name the parts.
    const item = part.links.find(({ rel, href }) => rel === 'assessment-for' && href.startsWith('#SR-'));
    return {
      id: idOf(part),
      label: objectiveLabelOf(part),
      prose: texts.prose(part.prose, part.id || identifier),
      ...(item === undefined ? {} : { part: partOfItem(item.href) }),
      parts: partsOf(part, objectiveNames).map(readObjective),
    };
  };
  /** A part that names none of the three methods gives nothing. */
  const readMethod = (part: OscalPart): AssessmentMethod[] => {
    const named = part.props.find(({ name }) => name === 'method')?.value;
    const method = methodNames.find((each) => each === named?.trim().toUpperCase());
    if (method === undefined) return [];
    const objects = partsOf(part, objectNames)
      .flatMap(({ prose }) => prose.split(/(?:\r?\n[^\S\n]*){2,}/))
      .map((text) => texts.prose(text, identifier))
      .filter((text) => text !== '');
    return [{ method, objects }];
  };
  return statedAssessment({
    parameters: control.params.map((parameter) => readParameter(parameter, identifier, texts)),
    objectives: partsOf(control, objectiveNames).map(readObjective),
    methods: partsOf(control, methodPartNames).flatMap(readMethod),
  });
}

function readParameter(parameter: OscalParameter, identifier: string, texts: CatalogTexts): StoredParameter {
  const { id, props, select, label, values } = parameter;
  const choices = (select?.choice ?? []).map((choice) => texts.prose(choice, identifier));
  const aggregates = aggregatesOf(parameter);
  const stated = values.map(collapseLine).filter((value) => value !== '');
  const read: StoredParameter = {
    id: ownPropOf(props, idName) ?? id,
    label: props.find(({ name }) => name === 'label')?.value ?? '',
    text: ownPropOf(props, shownName) ?? texts.parameter(parameter, identifier),
    choices,
    howMany: choices.length === 0 ? null : isMany(select) ? 'one-or-more' : 'one',
    ...(aggregates.length === 0 ? {} : { aggregates }),
    ...(stated.length === 0 ? {} : { stated }),
  };
  return withPublished(read, texts.prose(label, identifier));
}

/** The label of SP 800-53A, which Rev 5 marks; Rev 4 has no other. */
function objectiveLabelOf({ props }: OscalPart): string {
  const labels = props.filter(({ name }) => name === 'label');
  return (labels.find((each) => each.class === 'sp800-53a') ?? labels[0])?.value.trim() ?? '';
}
