import { assignmentText, selectionText } from '../../src/catalog/controls/assessment-record.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { closeUp, collapseLine, excerpt } from '../read/source-text.ts';

/** A parameter of an OSCAL catalog: a label to fill in, choices, or parameters that it combines. */
export interface Parameter {
  /** The published wording, with or without "organization-defined" before it; `""` if none. */
  label: string;
  choices: string[];
  many: boolean;
  aggregates: string[];
}

/** Renders a text with its inserts; `where` names its part in messages. */
export type RenderProse = (prose: string, where: string) => string;

const insert = /\{\{\s*(?:insert:\s*param\s*,\s*)?([^\s{},]+)\s*\}\}/g;
/** Far above real catalogs; they bound the growth of hostile ones. */
const maxNesting = 16;
const maxInserted = 32_000_000;

/**
 * Makes the renderer of a catalog's texts (rules D6.4, F5.3): a parameter becomes `[Assignment: organization-defined
 * ...]`, `[Selection: a; b]` or `[Selection (one or more): a; b]`. It warns of an
 * undefined parameter, and throws `ImportError` for an unknown insert and for parameters that contain one another.
 */
export function createRenderProse(parameters: Map<string, Parameter>, warnings: string[]): RenderProse {
  const rendered = new Map<string, string>();
  const open = new Set<string>();
  let inserted = 0;

  function render(prose: string, where: string): string {
    const text = prose.replace(insert, (_, id: string) => renderParameter(id, where));
    const left = text.indexOf('{{');
    if (left >= 0)
      throw new ImportError(`${where}: an insert is not understood: ${excerpt(text.slice(left))}`);
    return text;
  }

  function renderParameter(id: string, where: string): string {
    const text = rendered.get(id) ?? renderNew(id, where);
    inserted += text.length;
    if (inserted > maxInserted)
      throw new ImportError(`${where}: the parameters of the catalog grow beyond ${maxInserted} characters`);
    return text;
  }

  function renderNew(id: string, where: string): string {
    const parameter = parameters.get(id);
    if (!parameter) warnings.push(`${where}: the parameter ${excerpt(id)} is not defined`);
    if (open.has(id)) throw new ImportError(`${where}: the parameter ${excerpt(id)} contains itself`);
    if (open.size >= maxNesting)
      throw new ImportError(`${where}: the parameter ${excerpt(id)} is nested deeper than ${maxNesting}`);
    open.add(id);
    const text = parameter ? renderKnown(parameter, where) : assignmentText('value');
    open.delete(id);
    rendered.set(id, text);
    return text;
  }

  function renderKnown(parameter: Parameter, where: string): string {
    const { label, choices, many, aggregates } = parameter;
    if (choices.length > 0) {
      const texts = choices.map((choice) => closeUp(collapseLine(render(choice, where))));
      return selectionText(texts, many);
    }
    if (label === '' && aggregates[0] !== undefined) return renderParameter(aggregates[0], where);
    return assignmentText(label === '' ? 'value' : render(label, where));
  }

  return (prose, where) => render(prose, excerpt(where));
}
