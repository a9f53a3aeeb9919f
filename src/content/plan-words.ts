import { count, spoken } from '../base/text.ts';
import type { Changes } from './compare-catalogs.ts';
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
  const source = ({ source, target, sha256 }: Plan['sources']['go'][0]) =>
    `${source}${target === null ? '' : ` (${target})`}, SHA-256 ${sha256}`;
  const isLocal = ({ sha256 }: Plan['sources']['go'][0]) => localSources.includes(sha256);
  const reference = ({ kind, id, name, owner, refersTo, title }: Plan['references']['go'][0]) =>
    `${kind === 'favorite' ? `favorite of ${owner}` : `${kind} "${name}" of ${owner} (${id})`}: ${refersTo} ${title}`;
  const entry = ({ id, title }: { id: string; title: string }) => `${id} ${title}`;
  const all: PlanSection[] = [
    section('Sources that only this site holds', { go: sources.go.filter(isLocal).map(source) }),
    section('References of lists, collections and favorites', {
      come: references.comeBack.map(reference),
      go: references.go.map(reference),
    }),
    section("This site's mapping decisions", {
      change: decisions.map(({ from, to, status, why }) => `${from} and ${to} (${status}): ${why}`),
    }),
    section('Renamed slugs', { change: slugs.map(({ from, to }) => `${from} is ${to} now`) }),
    inWords('STIGs', plan.stigs, ({ slug, title, version, rules }, before) => {
      const [was, were] = before ? [before.fromVersion, before.fromRules] : [version, rules];
      const versions = was === version ? version : `${was} to ${version}`;
      const counts = were === rules ? count(rules, 'rule') : `${were} to ${count(rules, 'rule')}`;
      return `${slug} ${versions}, ${counts}: ${title}`;
    }),
    inWords('Releases', plan.releases, ({ slug, version, releaseDate }) =>
      [slug, version, releaseDate ?? 'no date'].join(' '),
    ),
    inWords('Controls', plan.controls, ({ framework, version, identifier, title }) =>
      [framework, version, identifier, title].join(' '),
    ),
    inWords('Mappings', plan.edges, ({ from, to, status }, before) =>
      [from, to, before && before.fromStatus !== status ? `${before.fromStatus} to ${status}` : status].join(
        ' ',
      ),
    ),
    inWords('Documents', plan.documents, entry),
    inWords('Occupations', plan.occupations, entry),
    inWords('Work roles', plan.workRoles, entry),
    inWords('Roles of STIGs', plan.roleMappings, entry),
    inWords('Synonyms', plan.synonyms, ({ words }) => words),
    inWords('Slug overrides', plan.overrides, ({ benchmarkId, slug }) => `${benchmarkId} ${slug}`),
    section('Other sources', {
      come: sources.come.map(source),
      go: sources.go.filter((each) => !isLocal(each)).map(source),
    }),
  ];
  return all.filter(({ come, change, go }) => come.length + change.length + go.length > 0);
}

const section = (title: string, changes: Partial<Changes<string>>): PlanSection => {
  return { title, come: [], change: [], go: [], ...changes };
};

function inWords<T, C extends T>(
  title: string,
  { come, change, go }: Changes<T, C>,
  words: (row: T, before?: C) => string,
): PlanSection {
  return {
    title,
    come: come.map((row) => words(row)),
    change: change.map((row) => words(row, row)),
    go: go.map((row) => words(row)),
  };
}

/** The counts of a section in words. */
export function totals({ come, change, go }: PlanSection): string {
  const parts = [
    [come.length, 'added'],
    [change.length, 'changed'],
    [go.length, 'removed'],
  ] as const;
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number.toLocaleString('en-US')} ${word}`)
    .join(', ');
}
