import { compareCodePoints } from '../../src/base/text.ts';
import {
  type AssessmentMethod,
  methodNames,
  type ObjectivePart,
  partOfItem,
  type StoredAssessment,
  type StoredParameter,
  selectionText,
  statedAssessment,
} from '../../src/catalog/controls/assessment-record.ts';
import { closeUp, collapseLine } from '../read/source-text.ts';
import { byRequirement, type Cprt, type CprtElement } from './cprt-shape.ts';

/**
 * Gives a function that reads what SP 800-171A Rev 3 states of a requirement `03.01.01`: parameters, determinations with
 * the item that they belong to, and methods.
 */
export function createAssessments(
  data: Cprt,
  elements: Map<string, CprtElement>,
): (requirement: string) => Partial<StoredAssessment> {
  const projections = data.relationships.filter(({ type }) => type === 'projection');
  const byTarget = Map.groupBy(projections, ({ to }) => to);
  const bySource = Map.groupBy(projections, ({ from }) => from);
  const parameters = byRequirement(data, 'odp');
  const determinations = byRequirement(data, 'determination');
  const methods = methodNames.map((method) => [method, byRequirement(data, method.toLowerCase())] as const);

  function readParameter({ id, title }: CprtElement): StoredParameter {
    const below = (bySource.get(id) ?? []).map(({ to }) => elements.get(to));
    const words = collapseLine(below.find((each) => each?.type === 'odp_statement')?.text ?? title);
    const selection = below.find((each) => each?.type === 'odp_type')?.id;
    if (selection !== 'multi_select' && selection !== 'single_select')
      return { id, label: id, text: `[Assignment: ${words}]`, choices: [], howMany: null };
    const choices = splitAtSemicolons(words);
    const isMany = selection === 'multi_select';
    const howMany = isMany ? 'one-or-more' : 'one';
    return { id, label: id, text: selectionText(choices, isMany), choices, howMany };
  }

  /** `<A.03.01.01.ODP[01]: time period>` as the statement shows the parameter. */
  function renderInserts(text: string): string {
    const rendered = text.replace(/<([^<>:]+):([^<>]*)>/g, (_, id: string, title: string) => {
      const element = elements.get(id);
      return element?.type === 'odp' ? readParameter(element).text : `[Assignment: ${title.trim()}]`;
    });
    return closeUp(collapseLine(rendered));
  }

  function readDetermination({ id, text }: CprtElement): ObjectivePart {
    const item = (byTarget.get(id) ?? []).find(({ from }) => from.startsWith('SR-'));
    return {
      id,
      label: id.replace(/^DS-/, ''),
      prose: renderInserts(text),
      ...(item === undefined ? {} : { part: partOfItem(item.from) }),
      parts: [],
    };
  }

  return (requirement) =>
    statedAssessment({
      // The file has parameters in no order.
      parameters: (parameters.get(requirement) ?? [])
        .toSorted((a, b) => compareCodePoints(a.id, b.id))
        .map(readParameter),
      objectives: (determinations.get(requirement) ?? []).map(readDetermination),
      methods: methods.flatMap(([method, stated]): AssessmentMethod[] =>
        (stated.get(requirement) ?? []).map(({ text }) => ({ method, objects: selectFrom(text) })),
      ),
    });
}

/** `[SELECT FROM: a; b]` has two objects. */
function selectFrom(text: string): string[] {
  return splitAtSemicolons(text.trim().replace(/^\[SELECT FROM:(.*)\]$/s, '$1'));
}

function splitAtSemicolons(text: string): string[] {
  return text
    .split(';')
    .map(collapseLine)
    .filter((each) => each !== '');
}
