import { oscalNamespace } from '../../src/base/ids.ts';
import {
  type ObjectivePart,
  partOfItem,
  type StoredAssessment,
  type StoredParameter,
  statedAssessment,
  withPublished,
} from '../../src/catalog/controls/assessment-record.ts';
import { idName } from '../../src/catalog/controls/oscal.ts';
import { type AssessmentMethod, methodNames } from '../../src/catalog/controls/schema.ts';
import { closeUp, collapseLine, collapseProse } from '../read/source-text.ts';
import type { OscalControl, OscalParameter, OscalPart, OscalProperty } from './oscal-shape.ts';
import type { RenderProse } from './parameters.ts';

/** The names of parts: of Rev 5 and 800-171, and of Rev 4. */
const objectiveNames = ['assessment-objective', 'objective'];
const methodPartNames = ['assessment-method', 'assessment'];
const objectNames = ['assessment-objects', 'objects'];

/** Parameters, objectives and methods of a control (rule D37.1), texts rendered as in the statement. */
export function readAssessment(
  control: OscalControl,
  identifier: string,
  render: RenderProse,
): Partial<StoredAssessment> {
  const line = (prose: string, where: string) => closeUp(collapseProse(render(prose, where)));
  const readObjective = (part: OscalPart): ObjectivePart => {
    // Of 800-171: the labels of 800-53, which links to its statements too, name the parts.
    const item = part.links.find(
      ({ rel, href }) => rel === 'assessment-for' && href.startsWith('#SR-'),
    )?.href;
    return {
      id: part.id || (ownPropOf(part.props, idName) ?? ''),
      label: labelOf(part),
      prose: line(part.prose, part.id || identifier),
      ...(item === undefined ? {} : { part: partOfItem(item) }),
      parts: part.parts.filter(({ name }) => objectiveNames.includes(name)).map(readObjective),
    };
  };
  return statedAssessment({
    parameters: control.params.map((parameter) => readParameter(parameter, (text) => line(text, identifier))),
    objectives: control.parts.filter(({ name }) => objectiveNames.includes(name)).map(readObjective),
    methods: control.parts.flatMap((part) => readMethod(part, (text) => line(text, identifier))),
  });
}

function readParameter(
  { id, props, select, label, values }: OscalParameter,
  render: (text: string) => string,
): StoredParameter {
  const choices = (select?.choice ?? []).map(render);
  const aggregates = props.filter(({ name }) => name === 'aggregates').map(({ value }) => value);
  const stated = values.map(collapseLine).filter((value) => value !== '');
  const parameter: StoredParameter = {
    id,
    label: props.find(({ name }) => name === 'label')?.value ?? '',
    text: render(`{{ insert: param, ${id} }}`),
    choices,
    howMany: choices.length === 0 ? null : select?.['how-many'] === 'one-or-more' ? 'one-or-more' : 'one',
    ...(aggregates.length === 0 ? {} : { aggregates }),
    ...(stated.length === 0 ? {} : { stated }),
  };
  return withPublished(parameter, render(label));
}

/** A part that names none of the three methods gives nothing. */
function readMethod(part: OscalPart, render: (text: string) => string): AssessmentMethod[] {
  if (!methodPartNames.includes(part.name)) return [];
  const named = part.props
    .find(({ name }) => name === 'method')
    ?.value.trim()
    .toUpperCase();
  const method = methodNames.find((each) => each === named);
  if (method === undefined) return [];
  const objects = part.parts
    .filter(({ name }) => objectNames.includes(name))
    .flatMap(({ prose }) => prose.split(/(?:\r?\n[^\S\n]*){2,}/))
    .map(render)
    .filter((text) => text !== '');
  return [{ method, objects }];
}

/** The value of a property in our namespace. */
export function ownPropOf(props: OscalProperty[], name: string): string | undefined {
  return props.find((each) => each.name === name && each.ns === oscalNamespace)?.value;
}

/** The label of SP 800-53A, which Rev 5 marks; Rev 4 has no other. */
function labelOf({ props }: OscalPart): string {
  const labels = props.filter(({ name }) => name === 'label');
  return (labels.find((each) => each.class === 'sp800-53a') ?? labels[0])?.value.trim() ?? '';
}
