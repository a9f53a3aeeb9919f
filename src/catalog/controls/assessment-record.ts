import type { AssessmentMethod, ControlParameter, Objective } from './schema.ts';

/** A parameter of a control as its source states it (rule D37.1). */
export interface StoredParameter extends Omit<ControlParameter, 'values'> {
  /** The parameters that it combines; absent if none. */
  aggregates?: string[];
  /** The published label, where `text` has other words: `organization-defined frequency`. */
  published?: string;
  /** The values that the catalog itself states; absent if none. */
  stated?: string[];
}

/** An objective, or those below a common beginning. */
export interface ObjectivePart {
  id: string;
  label: string;
  /** Plain text, parameters rendered. */
  prose: string;
  /** 800-171: the part of the statement that the source links to, such as `c 1`. */
  part?: string;
  parts: ObjectivePart[];
}

/** The assessment of a control as its sources state it. A field that no source states is absent. */
export interface StoredAssessment {
  parameters: StoredParameter[];
  objectives: ObjectivePart[];
  methods: AssessmentMethod[];
}

export const assessmentFields = ['parameters', 'objectives', 'methods'] as const;

/** The stated fields of an assessment: none for empty ones. */
export function statedAssessment(given: Partial<StoredAssessment>): Partial<StoredAssessment> {
  return Object.fromEntries(
    assessmentFields.flatMap((name) => ((given[name]?.length ?? 0) > 0 ? [[name, given[name]]] : [])),
  );
}

/** A part as words with a blank between, such as `d 3`, from the id of an item of 800-171: `SR-03.01.01.d.03`. */
export function partOfItem(id: string): string {
  return id
    .split('.')
    .slice(3)
    .map((word) => word.replace(/^0+(?=\d)/, ''))
    .join(' ');
}

/** A label as statements show it. Two labels of Rev 4 begin with "Assignment" themselves. */
export function assignmentText(label: string): string {
  const words = label
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^assignment[;:,]? /i, '')
    .replace(/^organization-defined /i, '');
  return `[Assignment: organization-defined ${words}]`;
}

/** The label that a text of an assignment shows: its words, or the text itself. */
export function shownLabel(text: string): string {
  return /^\[Assignment: organization-defined (.*)\]$/s.exec(text)?.[1] ?? text;
}

/** A parameter with its published label, if that differs from what its text shows. */
export function withPublished(parameter: StoredParameter, label: string): StoredParameter {
  const isShown = parameter.howMany !== null || label === '' || label === shownLabel(parameter.text);
  return isShown ? parameter : { ...parameter, published: label };
}

/** A selection as statements show it. */
export const selectionText = (choices: string[], isMany: boolean) =>
  `[Selection${isMany ? ' (one or more)' : ''}: ${choices.join('; ')}]`;

const control = /^([A-Z]{2})-(\d+)(?:\((\d+)\))?$/;
const words = /^(?:[\s.()]*(?:[a-z]{1,2}(?![a-z])|\d{1,4}(?!\d)))*[\s.()]*$/i;

/**
 * The part that a label of SP 800-53A or the reference of a CCI names after its control (rule D37.2): words with a
 * blank between, `AC-02d.03[01]` is `d 3`. `""` for the whole control, and for what cannot be read; null for a text that
 * names another control or none.
 */
export function partOf(identifier: string, text: string): string | null {
  const [, letters, number, enhancement] = control.exec(identifier) ?? [];
  const named =
    /^\s*([a-z]{2})\s{0,4}-\s{0,4}0*(\d{1,4})(?!\d)(?:\s{0,4}\(\s{0,4}0*(\d{1,4})\s{0,4}\))?(.*)$/is.exec(
      text,
    );
  if (letters === undefined || !named) return null;
  const [, namedLetters, namedNumber, namedEnhancement, rest] = named;
  if (namedLetters!.toUpperCase() !== letters || namedNumber !== number || namedEnhancement !== enhancement)
    return null;
  const unbracketed = rest!.replace(/\[[^[\]]*\]/g, ' ');
  if (unbracketed.length > 200 || !words.test(unbracketed)) return '';
  return (unbracketed.toLowerCase().match(/[a-z]+|\d+/g) ?? [])
    .map((word) => word.replace(/^0+(?=\d)/, ''))
    .join(' ');
}

/** How a reference relates to an objective, word by word of their parts; null for different parts. */
export function relationOf(
  objective: string,
  reference: string,
): Objective['ccis'][number]['relation'] | null {
  if (objective === reference) return 'equal';
  if (beginsWith(objective, reference)) return 'broader';
  return beginsWith(reference, objective) ? 'narrower' : null;
}

const beginsWith = (part: string, beginning: string) => beginning === '' || part.startsWith(`${beginning} `);
