import { assignmentText, selectionText } from '../../src/catalog/controls/assessment-record.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { closeUp, collapseLine, collapseLines, collapseProse, excerpt } from '../read/source-text.ts';
import { uniqueBy } from './catalog.ts';
import type { OscalParameter } from './oscal-shape.ts';

/** Writes the texts of a catalog as they are stored; `where` names their place in messages. */
export interface CatalogTexts {
  /** A text of a statement or an assessment: paragraphs joined to one line. */
  prose(text: string, where: string): string;
  /** A text with paragraphs. */
  paragraphs(text: string, where: string): string;
  /** A parameter as texts show it. */
  parameter(parameter: OscalParameter, where: string): string;
}

/** An insert of a parameter, with its id. */
export const insertPattern = /\{\{\s*(?:insert:\s*param\s*,\s*)?([^\s{},]+)\s*\}\}/g;
/** Far above real catalogs; they bound the growth of hostile ones. */
const maxNesting = 16;
const maxInserted = 32_000_000;

/** The texts of an export of ours, which are stored unchanged. */
export const ownTexts: CatalogTexts = {
  prose: (text) => text,
  paragraphs: (text) => text,
  parameter: ({ label, select }) =>
    select ? selectionText(select.choice, isMany(select)) : assignmentText(label),
};

/** Whether several choices of a parameter may be selected. */
export const isMany = (select: OscalParameter['select']) => select?.['how-many'] === 'one-or-more';

/** The parameters that a parameter combines. */
export const aggregatesOf = ({ props }: OscalParameter) =>
  props.filter(({ name }) => name === 'aggregates').map(({ value }) => value);

/**
 * Gives the texts of a publisher's catalog (rules D6.4, F5.3): an inserted parameter becomes `[Assignment:
 * organization-defined ...]`, `[Selection: a; b]` or `[Selection (one or more): a; b]`. `labelOf` gives the published
 * wording of a parameter. Warns of an undefined parameter. Throws `ImportError` for a repeated id, an unknown insert,
 * and parameters that nest too deep.
 */
export function createTexts(
  parameters: OscalParameter[],
  labelOf: (parameter: OscalParameter) => string,
  warnings: string[],
): CatalogTexts {
  const byId = uniqueBy(parameters, ({ id }) => id, 'the parameter ');
  const rendered = new Map<string, string>();
  let depth = 0;
  let inserted = 0;

  function render(text: string, where: string): string {
    const result = text.replace(insertPattern, (_, id: string) => parameterText(id, where));
    const left = result.indexOf('{{');
    if (left < 0) return result;
    throw new ImportError(`${excerpt(where)}: an insert is not understood: ${excerpt(result.slice(left))}`);
  }

  function parameterText(id: string, where: string): string {
    const fail = (what: string) => new ImportError(`${excerpt(where)}: the parameter${what}`);
    let text = rendered.get(id);
    if (text === undefined) {
      // So is a parameter that contains itself.
      if (depth === maxNesting) throw fail(` ${excerpt(id)} is nested deeper than ${maxNesting}`);
      depth++;
      text = newText(id, where);
      depth--;
      rendered.set(id, text);
    }
    inserted += text.length;
    if (inserted > maxInserted) throw fail(`s of the catalog grow beyond ${maxInserted} characters`);
    return text;
  }

  function newText(id: string, where: string): string {
    const parameter = byId.get(id);
    if (parameter === undefined) {
      warnings.push(`${excerpt(where)}: the parameter ${excerpt(id)} is not defined`);
      return assignmentText('value');
    }
    const choices = parameter.select?.choice ?? [];
    if (choices.length > 0) {
      const texts = choices.map((choice) => closeUp(collapseLine(render(choice, where))));
      return selectionText(texts, isMany(parameter.select));
    }
    const label = labelOf(parameter);
    const [aggregate] = aggregatesOf(parameter);
    if (label === '' && aggregate !== undefined) return parameterText(aggregate, where);
    return assignmentText(label === '' ? 'value' : render(label, where));
  }

  const prose = (text: string, where: string) => closeUp(collapseProse(render(text, where)));
  return {
    prose,
    paragraphs: (text, where) => closeUp(collapseLines(render(text, where))),
    parameter: ({ id }, where) => prose(`{{ insert: param, ${id} }}`, where),
  };
}
