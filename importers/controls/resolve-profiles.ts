import { compareCodePoints, count } from '../../src/base/text.ts';
import { compareVersions, isNistBaseline, versionKey } from '../../src/catalog/controls/frameworks.ts';
import { oscalId } from '../../src/catalog/controls/identifier.ts';
import type { SourceProblem } from '../../src/read/import-error.ts';
import { excerpt, firstOf } from '../read/source-text.ts';
import type {
  ControlRecord,
  ParameterSetting,
  ProfileImport,
  ProfileRecord,
  ProfileSelection,
} from './control-record.ts';
import { type BaselineLayer, baselinesOf, type MergedCatalog } from './merge.ts';
import { type FindCatalog, fileStem } from './oscal-ids.ts';
import { entriesOf, mergeSettings } from './profile-values.ts';

/** A profile as it is stored. */
export interface StoredProfile {
  sourceId: number;
  source: string;
  sha256: string;
  record: ProfileRecord;
}

/** A baseline that a profile lists itself, with the values that it sets. */
export interface ListedBaseline extends BaselineLayer {
  source: string;
  settings: ParameterSetting[];
}

interface ResolvedValue {
  sourceId: number;
  parameter: string;
  value: string;
}

/** The controls of some catalogs, and what profiles set their parameters to. */
interface Selected {
  members: Map<MergedCatalog, Set<string>>;
  settings: ParameterSetting[];
}

type KnownProfiles = Map<StoredProfile, Selected | null>;

/**
 * Resolves profiles over catalogs and one another as OSCAL's profile resolution says (rule D31): what each import
 * includes without what it excludes, together. A profile is one baseline in each catalog from which it takes controls.
 * The parents that a resolved catalog adds are not in it (rule F5.4). The order of imports does not matter.
 */
export function resolveProfiles(
  profiles: StoredProfile[],
  listed: ListedBaseline[],
  catalogs: MergedCatalog[],
  findCatalog: FindCatalog,
) {
  const problems: SourceProblem[] = [];

  /** `known` has the profiles below the top one, each resolved once: null while it is being resolved. */
  function resolve({ record, sourceId }: StoredProfile, known: KnownProfiles, isTop: boolean): Selected {
    const { baseline, imports } = record;
    const members: Selected['members'] = new Map();
    const settings: ParameterSetting[] = [];
    const warn = (message: string) => {
      if (isTop) problems.push({ sourceId, message: `the ${baseline} baseline ${message}` });
    };
    for (const each of imports) {
      const name = excerpt(each.names[0] ?? '', 100);
      const inner = importedBy(each, known);
      if (inner === 'circular') warn(`imports itself by "${name}"`);
      if (inner === null) {
        const texts = each.include.flatMap(({ ids, patterns }) => [...ids, ...patterns]);
        warn(
          `imports "${name}", which is not imported${texts.length === 0 ? '' : `: ${firstOf(texts, 50)}`}`,
        );
      }
      if (inner === null || inner === 'circular') continue;
      settings.push(...inner.settings);
      const included = each.isAll ? inner.members : select(inner.members, each.include, warn, 'names');
      const excluded = select(inner.members, each.exclude, warn, 'excludes');
      for (const [catalog, identifiers] of included) {
        const taken = members.get(catalog) ?? new Set();
        for (const one of identifiers) if (!excluded.get(catalog)?.has(one)) taken.add(one);
        if (taken.size > 0) members.set(catalog, taken);
      }
    }
    return { members, settings: mergeSettings([...settings, ...record.settings]) };
  }

  /** What an import refers to: a profile, a baseline of NIST, or the catalogs of a framework. */
  function importedBy(each: ProfileImport, known: KnownProfiles): Selected | 'circular' | null {
    const profile = newestOf(profiles.filter(({ record, source }) => isNamed(each, record.title, source)));
    const list = newestOf(listed.filter(({ title, source }) => isNamed(each, title, source)));
    if (profile !== undefined) {
      const resolved = known.get(profile);
      if (resolved !== undefined) return resolved ?? 'circular';
      known.set(profile, null);
      const found = resolve(profile, known, false);
      known.set(profile, found);
      return found;
    }
    const fitting = catalogs.filter((catalog) => isOf(catalog, each));
    const nist = each.framework === 'nist-800-53' ? nistBaselineIn(each.names) : undefined;
    if (list !== undefined || nist !== undefined) {
      const members = catalogs.flatMap((catalog) => {
        const { framework, version } = list ?? each;
        if (catalog.framework !== framework || !fits(catalog, version)) return [];
        const has = list
          ? ({ identifier }: ControlRecord) => list.identifiers.has(identifier)
          : baselinesOf(catalog, listed).find(({ name }) => name === nist)?.has;
        return has === undefined ? [] : [[catalog, idsOf(catalog.controls.filter(has))] as const];
      });
      if (members.length > 0) return { members: new Map(members), settings: list?.settings ?? [] };
    }
    const found = fitting.length > 0 ? fitting : findBySelection(each);
    if (found.length === 0) return null;
    return {
      members: new Map(found.map((catalog) => [catalog, idsOf(catalog.controls)])),
      settings: [],
    };
  }

  function findBySelection({ include, ...named }: ProfileImport): MergedCatalog[] {
    const ids = include.flatMap((each) => each.ids);
    const rated = catalogs.map((catalog) => {
      const members = new Map([[catalog, idsOf(catalog.controls)]]);
      const size = select(members, include, () => {}, 'names').get(catalog)?.size ?? 0;
      return { framework: catalog.framework, size };
    });
    const best = rated.filter(({ size }) => size > 0).sort((a, b) => b.size - a.size)[0];
    const framework = findCatalog(ids, named)?.framework ?? best?.framework;
    // The version of another framework is none of this one.
    const isOfIt = framework === named.framework || (named.framework === '' && framework === 'nist-800-53');
    return catalogs.filter(
      (catalog) => catalog.framework === framework && (!isOfIt || fits(catalog, named.version)),
    );
  }

  function select(
    members: Selected['members'],
    selections: ProfileSelection[],
    warn: (message: string) => void,
    verb: 'names' | 'excludes',
  ): Selected['members'] {
    const unknown = new Set(selections.flatMap(({ ids }) => ids));
    const unmatched = new Set(selections.flatMap(({ patterns }) => patterns));
    const selected: Selected['members'] = new Map();
    for (const [catalog, identifiers] of members) {
      const chosen = new Set<string>();
      const spellings = catalog.controls
        .filter(({ identifier }) => identifiers.has(identifier))
        .map((control) => ({ control, texts: spellingsOf(catalog, control) }));
      for (const { ids, patterns, children } of selections) {
        const found = new Set<string>();
        for (const id of ids) {
          const identifier = findCatalog.controlIn(catalog, id);
          if (identifier === null || !identifiers.has(identifier)) continue;
          unknown.delete(id);
          found.add(identifier);
        }
        for (const pattern of patterns)
          for (const { control, texts } of spellings) {
            if (!texts.some((text) => matchesGlob(text, pattern.toLowerCase()))) continue;
            unmatched.delete(pattern);
            found.add(control.identifier);
          }
        if (children)
          for (const each of childrenOf(catalog, found)) if (identifiers.has(each)) found.add(each);
        for (const each of found) chosen.add(each);
      }
      if (chosen.size > 0) selected.set(catalog, chosen);
    }
    if (unknown.size > 0) warn(`${verb} ${unknown.size} unknown controls: ${firstOf([...unknown], 50)}`);
    if (unmatched.size > 0)
      warn(`${verb} no control by ${unmatched.size} patterns: ${firstOf([...unmatched], 50)}`);
    return selected;
  }

  const isOf = (catalog: MergedCatalog, each: ProfileImport) =>
    findCatalog.isNamed(catalog, each) && fits(catalog, each.version);

  const layers: BaselineLayer[] = [];
  const values: ResolvedValue[] = [];
  for (const profile of profiles) {
    const { record, ...source } = profile;
    const { members, settings } = resolve(profile, new Map([[profile, null]]), true);
    const { edition, baseline, title } = record;
    const head = { ...source, edition, baseline, title };
    // Releases of one revision share a baseline, which is of the release that the profile states.
    const keyOf = (framework: string, version: string) =>
      JSON.stringify([framework, versionKey(framework, version)]);
    const byRevision = Map.groupBy(members, ([{ framework, version }]) => keyOf(framework, version));
    for (const [key, revision] of byRevision) {
      const { framework, version } = revision
        .map(([catalog]) => catalog)
        .sort((one, other) => compareVersions(other.version, one.version))[0]!;
      const isStated = key === keyOf(record.framework, record.version);
      const identifiers = new Set(revision.flatMap(([, each]) => [...each]));
      layers.push({ ...head, framework, version: isStated ? record.version : version, identifiers });
    }
    if (members.size === 0) layers.push({ ...head, framework: '', version: '', identifiers: new Set() });
    const texts = createTextOf([...members.keys()]);
    const strange = record.settings.filter(({ parameter }) => !texts.has(parameter));
    if (members.size > 0 && strange.length > 0) {
      const names = firstOf(
        strange.map(({ parameter }) => excerpt(parameter)),
        50,
      );
      problems.push({
        sourceId: profile.sourceId,
        message: `the ${baseline} baseline sets ${count(strange.length, 'unknown parameter')}: ${names}`,
      });
    }
    for (const setting of settings)
      for (const entry of entriesOf(setting))
        values.push({ sourceId: profile.sourceId, parameter: setting.parameter, value: texts(entry) });
  }
  return { layers, values, problems };
}

const idsOf = (controls: ControlRecord[]) => new Set(controls.map(({ identifier }) => identifier));

const fits = ({ framework, version }: MergedCatalog, wanted: string) =>
  wanted === '' || versionKey(framework, version) === versionKey(framework, wanted);

/** Letters and digits alone: addresses write a title without blanks. */
const plainName = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Whether an import names a document by its title or by the name of its file. */
function isNamed({ names }: ProfileImport, title: string, source: string): boolean {
  const own = [plainName(title), plainName(`${title} profile`)];
  return names.some((name) => {
    const stem = fileStem(name);
    return (
      own.includes(plainName(name)) ||
      (stem !== '' && (stem === fileStem(source) || own.includes(plainName(stem))))
    );
  });
}

/** The baseline of NIST in the name of its profile: `NIST_SP-800-53_rev5_MODERATE-baseline_profile.json`. */
function nistBaselineIn(names: string[]): string | undefined {
  for (const name of names) {
    const word = /(low|moderate|high|privacy)[-_ ](?:(?:impact|control)[-_ ])?baseline/i
      .exec(name)?.[1]
      ?.toLowerCase();
    if (word !== undefined && isNistBaseline(word) && !/fedramp/i.test(name)) return word;
  }
  return undefined;
}

function newestOf<T extends { sha256: string; edition?: string; record?: ProfileRecord }>(
  found: T[],
): T | undefined {
  const edition = (each: T) => each.edition ?? each.record?.edition ?? '';
  return found.sort(
    (a, b) => compareVersions(edition(b), edition(a)) || compareCodePoints(a.sha256, b.sha256),
  )[0];
}

function spellingsOf({ framework }: MergedCatalog, { identifier, oscalId: id }: ControlRecord): string[] {
  const own = oscalId(framework, identifier);
  return [...new Set([identifier, own, id ?? own].map((text) => text.toLowerCase()))];
}

/** The controls below some, at any depth. */
function childrenOf({ controls }: MergedCatalog, of: Set<string>): string[] {
  const all = idsOf(controls);
  const parents = new Map(
    controls.map((each) => [each.identifier, each.parent ?? parentIn(all, each.identifier)]),
  );
  return [...all].filter((identifier) => {
    const seen = new Set<string>();
    for (let each = parents.get(identifier); each && !seen.has(each); each = parents.get(each)) {
      if (of.has(each)) return true;
      seen.add(each);
    }
    return false;
  });
}

/** The control that an identifier continues: `GV.OC` of `GV.OC-01`, `AC-2` of `AC-2(1)`; `""` for none. */
export function parentIn(identifiers: Set<string>, identifier: string): string {
  for (let end = identifier.length - 1; end > 0; end--) {
    const above = identifier.slice(0, end).trim();
    if (/[^\p{L}\p{N}]/u.test(identifier[end]!) && identifiers.has(above)) return above;
  }
  return '';
}

/** Whether a text has the form of a pattern, in which `*` is any text and `?` one character. Linear steps back. */
export function matchesGlob(text: string, pattern: string): boolean {
  let [at, star, retry] = [0, -1, 0];
  let index = 0;
  while (index < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      retry = index;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[index])) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++retry;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(at));
}

/** Gives a function that writes the parameters in a text as the catalogs show them. */
function createTextOf(catalogs: MergedCatalog[]) {
  const texts = new Map(
    catalogs.flatMap(({ controls }) =>
      controls.flatMap(({ parameters = [] }) => parameters.map((each) => [each.id, each.text])),
    ),
  );
  const textOf = (text: string): string =>
    text.replace(
      /\{\{\s*(?:insert:\s*param\s*,\s*)?([^\s{},]+)\s*\}\}/g,
      (_, id: string) => texts.get(id) ?? '[Assignment: organization-defined value]',
    );
  return Object.assign(textOf, { has: (parameter: string) => texts.has(parameter) });
}
