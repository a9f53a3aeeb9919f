import type { StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { closeUp, collapseProse, excerpt } from '../read/source-text.ts';
import type { OscalControl, OscalParameter, OscalPart } from './oscal-shape.ts';
import type { Parameter, RenderProse } from './parameters.ts';

/** True for a control that its publisher withdrew. */
export function isWithdrawn(control: OscalControl): boolean {
  return control.props.some(({ name, value }) => name === 'status' && value.toLowerCase() === 'withdrawn');
}

/** The parts with a name. */
export function partsOf(control: OscalControl, name: string): OscalPart[] {
  return control.parts.filter((part) => part.name === name);
}

/** The parameters of a catalog: controls may insert those of others. Throws `ImportError` for a repeated id. */
export function readParameters(
  given: OscalParameter[],
  labelOf: (parameter: OscalParameter) => string,
): Map<string, Parameter> {
  const parameters = new Map<string, Parameter>();
  for (const parameter of given) {
    const { id, select, props } = parameter;
    if (parameters.has(id)) throw new ImportError(`the parameter ${excerpt(id)} occurs twice`);
    parameters.set(id, {
      label: labelOf(parameter),
      choices: select?.choice ?? [],
      many: select?.['how-many'] === 'one-or-more',
      aggregates: props.filter(({ name }) => name === 'aggregates').map(({ value }) => value),
    });
  }
  return parameters;
}

/** The lead text and the items of each statement, as siblings. `identifier` names a part without an id in messages. */
export function readStatements(
  statements: OscalPart[],
  identifier: string,
  render: RenderProse,
  labelOf: (part: OscalPart) => string,
): StatementPart[] {
  const read = (part: OscalPart): StatementPart => ({
    id: part.id,
    label: labelOf(part),
    prose: closeUp(collapseProse(render(part.prose, part.id || identifier))),
    parts: part.parts.map(read),
  });
  return statements.flatMap((statement) => {
    const lead = read(statement);
    return lead.prose === '' ? lead.parts : [{ ...lead, parts: [] }, ...lead.parts];
  });
}
