/** A parameter of a control as its source states it (rule D37.1). */
export interface StoredParameter {
  id: string;
  /** As published: `AC-02_ODP[01]`; `""` if none. */
  label: string;
  /** The words that the statement shows for it: `[Assignment: organization-defined frequency]`. */
  text: string;
  choices: string[];
  /** null for an assignment. */
  howMany: 'one' | 'one-or-more' | null;
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

export const methodNames = ['EXAMINE', 'INTERVIEW', 'TEST'] as const;

/** What an assessor examines, whom to interview, what to test. */
export interface AssessmentMethod {
  method: (typeof methodNames)[number];
  objects: string[];
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
