import { diffArrays } from 'diff';
import type { Child } from 'hono/jsx';
import { Severity } from './components.tsx';

type Level = Parameters<typeof Severity>[0]['level'];

type FieldChange =
  | { field: 'ccis'; old: string[]; new: string[] }
  | { field: 'title' | 'severity' | 'discussion' | 'check' | 'fix'; old: string; new: string };

export const classNames = {
  check: 'check',
  fix: 'fix',
  severity: 'severity',
  mapping: 'CCIs',
  cosmetic: 'wording',
};

/** Limits of a page in characters and milliseconds: texts beyond appear side by side, without marks. */
const mostCompared = 600_000;

const mostMilliseconds = 1000;

/** Compares two texts word by word; null once the page reached its limit. */
export type Marker = (before: string, after: string) => TextSegment[] | null;

/** The marks of pairs of texts, by both: null where they are not marked. */
type MarkedTexts = Map<string, TextSegment[] | null>;

/** A marker for one page. What is in `marked` is not compared again: a job may have done it. */
export function createMarker(marked: MarkedTexts = new Map(), milliseconds = mostMilliseconds): Marker {
  let characters = mostCompared;
  const compare = (before: string, after: string) => {
    characters -= before.length + after.length;
    if (characters < 0 || milliseconds < 0) return null;
    const started = performance.now();
    const segments = changedWords(before, after);
    milliseconds -= performance.now() - started;
    return segments;
  };
  return (before, after) => {
    const key = `${before}\0${after}`;
    if (!marked.has(key)) marked.set(key, compare(before, after));
    return marked.get(key)!;
  };
}

/** The words that the texts of changed fields do not share; for jobs, as long texts take long. */
export function markedFields(rules: { fields: FieldChange[] }[]): MarkedTexts {
  const marked: MarkedTexts = new Map();
  const marker = createMarker(marked);
  for (const field of rules.flatMap(({ fields }) => fields))
    if (field.field !== 'severity') marker(...textsOf(field));
  return marked;
}

/** The two texts of a changed field, for comparison. */
function textsOf(field: FieldChange): [before: string, after: string] {
  return field.field === 'ccis' ? [field.old.join('\n'), field.new.join('\n')] : [field.old, field.new];
}

/** Unchanged characters shown around a change; a longer text than `longestUnchanged` loses its middle. */
const context = 60;

const longestUnchanged = 130;

const longestChanged = 400;

const omission = ' […] ';

const endOf = (text: string) => text.slice(-context).replace(/^\S{0,40}\s+/, '');

const startOf = (text: string, length = context) => text.slice(0, length).replace(/\s+\S{0,40}$/, '');

/** The beginning of a long changed text. */
const cut = (text: string) =>
  text.length > longestChanged ? startOf(text, longestChanged) + omission : text;

/** Cuts the middle of long unchanged segments, and the end of very long changed ones. */
function shortened(segments: TextSegment[]): TextSegment[] {
  return segments.map(({ kind, text }, index) => {
    if (kind !== 'equal') return { kind, text: cut(text) };
    if (text.length <= longestUnchanged) return { kind, text };
    const [isFirst, isLast] = [index === 0, index === segments.length - 1];
    return { kind, text: `${isFirst ? '' : startOf(text)}${omission}${isLast ? '' : endOf(text)}` };
  });
}

/** The segments of a changed text; without marks, both texts as a whole. */
function segmentsOf(field: FieldChange, marker: Marker): { segments: TextSegment[]; isMarked: boolean } {
  const [before, after] = textsOf(field);
  const marked = marker(before, after);
  const whole: TextSegment[] = [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ];
  return { segments: marked ?? whole, isMarked: marked !== null };
}

/** Whether a page shows a field shortened. */
export function isShortened(field: FieldChange, marker: Marker): boolean {
  if (field.field === 'severity') return false;
  const { segments } = segmentsOf(field, marker);
  return shortened(segments).some(({ text }, index) => text !== segments[index]!.text);
}

/** One changed field: the old text left, the new one right, with the changes marked. */
export function Field(props: {
  field: FieldChange;
  from: string;
  to: string;
  marker: Marker;
  isShort?: boolean;
}): Child {
  const { field, from, to, marker, isShort = false } = props;
  if (field.field === 'severity') {
    const side = (level: string) => <Severity level={level as Level} />;
    return <Sides name="severity" sides={[from, side(field.old), to, side(field.new)]} />;
  }
  const { segments, isMarked } = segmentsOf(field, marker);
  const shown = isShort ? shortened(segments) : segments;
  const side = (other: TextSegment['kind'], Mark: 'del' | 'ins') =>
    shown
      .filter(({ kind }) => kind !== other)
      .map(({ kind, text }) => (isMarked && kind !== 'equal' ? <Mark>{text}</Mark> : text));
  const name = `${field.field === 'ccis' ? 'CCIs' : field.field}${isMarked ? '' : ' (changes not marked)'}`;
  return <Sides name={name} sides={[from, side('added', 'del'), to, side('removed', 'ins')]} />;
}

function Sides(props: { name: string; sides: [from: string, before: Child, to: string, after: Child] }) {
  const [from, before, to, after] = props.sides;
  const side = (version: string, text: Child) => (
    <div>
      <h4>
        {props.name}, {version}
      </h4>
      <p class="text">{text}</p>
    </div>
  );
  return (
    <div class="sides">
      {side(from, before)}
      {side(to, after)}
    </div>
  );
}

/** A severity, or its change. */
export function SeverityMove({ from, to }: { from: Level; to: Level }) {
  if (from === to) return <Severity level={to} />;
  return (
    <>
      <Severity level={from} /> <span aria-hidden="true">→</span>
      <span class="hidden">to</span> <Severity level={to} />
    </>
  );
}

/** A stretch of text that both texts have, or only one of them. */
export interface TextSegment {
  kind: 'equal' | 'removed' | 'added';
  text: string;
}

/** The limit of differing units: the work grows with its square. */
const maxEditLength = 1000;

/**
 * Compares two texts word by word: a word, a run of blanks and any other character are units. All segments but `added`
 * make up the old text, all but `removed` the new one. The work is bounded: very different texts are compared by lines,
 * or else as a whole.
 */
export function changedWords(old: string, now: string): TextSegment[] {
  const words = /[\p{L}\p{N}_]+|\s+|./gsu;
  const lines = /[^\n]*\n|[^\n]+/g;
  for (const units of [words, lines]) {
    const changes = diffArrays(old.match(units) ?? [], now.match(units) ?? [], { maxEditLength });
    if (changes)
      return tidy(
        changes.map(({ value, added, removed }) => ({
          kind: added ? 'added' : removed ? 'removed' : 'equal',
          text: value.join(''),
        })),
      );
  }
  return tidy([
    { kind: 'removed', text: old },
    { kind: 'added', text: now },
  ]);
}

/** Merges neighbors: a blank between two changes joins them, and `removed` precedes `added`. */
function tidy(segments: TextSegment[]): TextSegment[] {
  const tidied: TextSegment[] = [];
  let [removed, added] = ['', ''];
  const flush = () => {
    if (removed !== '') tidied.push({ kind: 'removed', text: removed });
    if (added !== '') tidied.push({ kind: 'added', text: added });
    [removed, added] = ['', ''];
  };
  const parts = segments.filter(({ text }) => text !== '');
  for (const [index, { kind, text }] of parts.entries()) {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else if ((removed !== '' || added !== '') && index < parts.length - 1 && /^[^\S\n]+$/.test(text)) {
      removed += text;
      added += text;
    } else {
      flush();
      const last = tidied.at(-1);
      if (last?.kind === 'equal') last.text += text;
      else tidied.push({ kind, text });
    }
  }
  flush();
  return tidied;
}
