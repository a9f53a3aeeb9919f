import { compareCodePoints } from '../../src/base/text.ts';
import {
  type ObjectivePart,
  partOfItem,
  type StoredAssessment,
  type StoredParameter,
  selectionText,
  statedAssessment,
} from '../../src/catalog/controls/assessment-record.ts';
import { type AssessmentMethod, methodNames } from '../../src/catalog/controls/schema.ts';
import { closeUp, collapseLine } from '../read/source-text.ts';
import type { Cprt, CprtElement } from './cprt-shape.ts';

/** Gives what SP 800-171A states of a requirement `03.01.01`. */
export type AssessmentOf = (requirement: string) => Partial<StoredAssessment>;

/** Rev 2: the "security requirements" of the export are the determination statements of 800-171A. */
export function readAssessmentRev2(data: Cprt): AssessmentOf {
  const statements = byRequirement(data, 'security_requirement');
  return (requirement) =>
    statedAssessment({
      objectives: (statements.get(requirement) ?? []).map(({ element_identifier: id, title, text }) => ({
        id,
        label: collapseLine(title),
        prose: collapseLine(text),
        parts: [],
      })),
    });
}

/** Rev 3: parameters, determinations with the item that they belong to, and methods. */
export function readAssessmentRev3(data: Cprt): AssessmentOf {
  const projections = data.relationships.filter((each) => each.relationship_identifier === 'projection');
  const sources = Map.groupBy(projections, (each) => each.dest_element_identifier);
  const targets = Map.groupBy(projections, (each) => each.source_element_identifier);
  const elements = new Map(data.elements.map((element) => [element.element_identifier, element]));
  const parameters = byRequirement(data, 'odp');
  const determinations = byRequirement(data, 'determination');
  const methods = methodNames.map((method) => [method, byRequirement(data, method.toLowerCase())] as const);

  function readParameter({ element_identifier: id, title }: CprtElement): StoredParameter {
    const below = (targets.get(id) ?? []).map((each) => elements.get(each.dest_element_identifier));
    const words = collapseLine(below.find((each) => each?.element_type === 'odp_statement')?.text ?? title);
    const type = below.find((each) => each?.element_type === 'odp_type')?.element_identifier;
    if (type !== 'multi_select' && type !== 'single_select')
      return { id, label: id, text: `[Assignment: ${words}]`, choices: [], howMany: null };
    const choices = splitAtSemicolons(words);
    const isMany = type === 'multi_select';
    return {
      id,
      label: id,
      text: selectionText(choices, isMany),
      choices,
      howMany: isMany ? 'one-or-more' : 'one',
    };
  }

  /** `<A.03.01.01.ODP[01]: time period>` as the statement shows the parameter. */
  function renderInserts(text: string): string {
    const rendered = text.replace(/<([^<>:]+):([^<>]*)>/g, (_, id: string, title: string) => {
      const element = elements.get(id);
      return element?.element_type === 'odp' ? readParameter(element).text : `[Assignment: ${title.trim()}]`;
    });
    return closeUp(collapseLine(rendered));
  }

  function readDetermination({ element_identifier: id, text }: CprtElement): ObjectivePart {
    const item = (sources.get(id) ?? []).find((each) => each.source_element_identifier.startsWith('SR-'));
    return {
      id,
      label: id.replace(/^DS-/, ''),
      prose: renderInserts(text),
      ...(item === undefined ? {} : { part: partOfItem(item.source_element_identifier) }),
      parts: [],
    };
  }

  return (requirement) =>
    statedAssessment({
      parameters: (parameters.get(requirement) ?? []).sort(byId).map(readParameter),
      objectives: (determinations.get(requirement) ?? []).map(readDetermination),
      methods: methods.flatMap(([method, stated]): AssessmentMethod[] =>
        (stated.get(requirement) ?? []).map(({ text }) => ({ method, objects: selectFrom(text) })),
      ),
    });
}

/** The file has parameters in no order. */
const byId = (a: CprtElement, b: CprtElement) =>
  compareCodePoints(a.element_identifier, b.element_identifier);

/** The elements of a type by the requirement in their ids, in the order of the file. */
function byRequirement(data: Cprt, type: string): Map<string, CprtElement[]> {
  const ofType = data.elements.filter((element) => element.element_type === type);
  return Map.groupBy(ofType, ({ element_identifier: id }) => /\d\d\.\d\d\.\d\d/.exec(id)?.[0] ?? '');
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
