import { spoken } from '../base/text.ts';
import { type Changes, kinds, type PlannedSource, type Row } from './compare-catalogs.ts';
import type { Plan } from './plan.ts';

/** A part of a plan in words: a line for each thing that is added, changed or removed. */
export interface PlanSection extends Changes<string> {
  title: string;
}

/** One line that identifies the bundle of a plan. */
export function planHeading({ bundle, digest }: Plan): string {
  const { channel, sequence, builtAt, signedBy, fingerprint } = bundle;
  return `${channel} ${sequence} of ${builtAt}, signed by ${signedBy ?? fingerprint}, whole: catalog ${spoken(digest)}`;
}

/** A plan in words, without empty sections. */
export function planSections(plan: Plan): PlanSection[] {
  const { slugs, references, decisions, sources, localSources } = plan;
  const isLocal = ({ sha256 }: PlannedSource) => localSources.includes(sha256);
  const all: PlanSection[] = [
    section('Sources that only this site holds', { go: sources.go.filter(isLocal) }, describeSource),
    section(
      'References of lists, collections and favorites',
      { come: references.comeBack, go: references.go },
      describeReference,
    ),
    section(
      "This site's mapping decisions",
      { change: decisions },
      ({ from, to, status, why }) => `${from} and ${to} (${status}): ${why}`,
    ),
    section('Renamed slugs', { change: slugs }, ({ from, to }) => `${from} is ${to} now`),
    ...Object.entries(kinds).map(([name, { title, words }]) =>
      section<Row>(title, plan[name as keyof typeof kinds], words),
    ),
    section(
      'Other sources',
      { come: sources.come, go: sources.go.filter((each) => !isLocal(each)) },
      describeSource,
    ),
  ];
  return all.filter(({ come, change, go }) => come.length + change.length + go.length > 0);
}

function section<T>(
  title: string,
  { come = [], change = [], go = [] }: Partial<Changes<T>>,
  words: (row: T) => string,
): PlanSection {
  return { title, come: come.map(words), change: change.map(words), go: go.map(words) };
}

const describeSource = ({ source, target, sha256 }: PlannedSource) =>
  `${source}${target === null ? '' : ` (${target})`}, SHA-256 ${sha256}`;

const describeReference = ({ kind, id, name, owner, refersTo, title }: Plan['references']['go'][0]) =>
  `${kind === 'favorite' ? `favorite of ${owner}` : `${kind} "${name}" of ${owner} (${id})`}: ${refersTo} ${title}`;

/** The changes of a section with their signs and their words. */
export const signed = ({ come, change, go }: PlanSection) =>
  [
    { sign: '+', word: 'added', lines: come },
    { sign: '~', word: 'changed', lines: change },
    { sign: '-', word: 'removed', lines: go },
  ].filter(({ lines }) => lines.length > 0);

/** The counts of a section in words. */
export const totals = (section: PlanSection) =>
  signed(section)
    .map(({ word, lines }) => `${lines.length.toLocaleString('en-US')} ${word}`)
    .join(', ');
