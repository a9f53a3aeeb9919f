import { compareCodePoints, count } from '../../src/base/text.ts';
import { compareVersions, isNistBaseline, versionKey } from '../../src/catalog/controls/frameworks.ts';
import type { SourceProblem } from '../../src/read/import-error.ts';
import { excerpt, firstOf } from '../read/source-text.ts';
import { parentIn } from './catalog.ts';
import type {
  ControlRecord,
  ParameterSetting,
  ProfileImport,
  ProfileRecord,
  ProfileSelection,
} from './control-record.ts';
import { type BaselineLayer, baselinesOf, type MergedCatalog } from './merge.ts';
import { type CatalogFinder, fileStem, spellingsOf, versionOf } from './named-catalog.ts';
import { insertPattern } from './oscal-texts.ts';
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

/** Controls of any catalogs, and what profiles set their parameters to. */
interface Selected {
  controls: Set<ControlRecord>;
  settings: ParameterSetting[];
}

/** Profiles that are resolved, and null for those that are being resolved. */
type ResolvedProfiles = Map<StoredProfile, Selected | null>;
type Warn = (message: string) => void;

/**
 * Resolves profiles over catalogs and one another as OSCAL's profile resolution says (rules D31, D52): what each import
 * includes without what it excludes, together. A profile is one baseline in each catalog from which it takes controls.
 * The parents that a resolved catalog adds are not in it (rule F5.4). The order of imports does not matter.
 */
export function resolveProfiles(
  profiles: StoredProfile[],
  listed: ListedBaseline[],
  catalogs: MergedCatalog[],
  finder: CatalogFinder,
) {
  const frameworkOf = new Map(
    catalogs.flatMap(({ framework, controls }) => controls.map((control) => [control, framework])),
  );
  const parents = new Map(catalogs.flatMap(parentsIn));

  function resolve({ record }: StoredProfile, resolved: ResolvedProfiles, warn: Warn): Selected {
    const controls = new Set<ControlRecord>();
    const settings: ParameterSetting[] = [];
    for (const each of record.imports) {
      const imported = importedBy(each, resolved);
      if (imported === null || imported === 'circular') {
        warn(missing(each, imported));
        continue;
      }
      const included = each.isAll
        ? imported.controls
        : select(imported.controls, each.include, 'names', warn);
      const excluded = select(imported.controls, each.exclude, 'excludes', warn);
      for (const control of included) if (!excluded.has(control)) controls.add(control);
      settings.push(...imported.settings);
    }
    return { controls, settings: mergeSettings([...settings, ...record.settings]) };
  }

  /** What an import refers to: a profile, a baseline of NIST, or the catalogs of a framework. */
  function importedBy(each: ProfileImport, resolved: ResolvedProfiles): Selected | 'circular' | null {
    const profile = newestOf(
      profiles.filter(({ record, source }) => isNamed(each, record.title, source)),
      ({ record }) => record.edition,
    );
    if (profile !== undefined) {
      if (!resolved.has(profile)) {
        resolved.set(profile, null);
        resolved.set(
          profile,
          resolve(profile, resolved, () => {}),
        );
      }
      return resolved.get(profile) ?? 'circular';
    }
    const baseline = listedBaseline(each) ?? nistBaseline(each);
    if (baseline !== null) return baseline;
    const named = catalogs.filter((catalog) => finder.isNamed(catalog, each) && fits(catalog, each.version));
    const found = named.length > 0 ? named : catalogsOfIds(each);
    const controls = new Set(found.flatMap((catalog) => catalog.controls));
    return found.length === 0 ? null : { controls, settings: [] };
  }

  function listedBaseline(each: ProfileImport): Selected | null {
    const baseline = newestOf(
      listed.filter(({ title, source }) => isNamed(each, title, source)),
      ({ edition }) => edition,
    );
    if (baseline === undefined) return null;
    const { framework, version, identifiers, settings } = baseline;
    const fitting = catalogs.filter((catalog) => catalog.framework === framework && fits(catalog, version));
    const controls = fitting.flatMap((catalog) =>
      catalog.controls.filter(({ identifier }) => identifiers.has(identifier)),
    );
    return fitting.length === 0 ? null : { controls: new Set(controls), settings };
  }

  function nistBaseline({ framework, version, names }: ProfileImport): Selected | null {
    const name = framework === 'nist-800-53' ? nistBaselineIn(names) : undefined;
    if (name === undefined) return null;
    const found = catalogs
      .filter((catalog) => catalog.framework === framework && fits(catalog, version))
      .flatMap((catalog) => {
        const baseline = baselinesOf(catalog, listed).find((each) => each.name === name);
        return baseline === undefined ? [] : [catalog.controls.filter(baseline.has)];
      });
    return found.length === 0 ? null : { controls: new Set(found.flat()), settings: [] };
  }

  /** The catalogs of the framework that has most of the ids of an import. */
  function catalogsOfIds(each: ProfileImport): MergedCatalog[] {
    const found = finder.find(
      each.include.flatMap(({ ids }) => ids),
      each,
    );
    if (found === null) return [];
    const { framework } = found;
    const version = versionOf(framework, each);
    return catalogs.filter((catalog) => catalog.framework === framework && fits(catalog, version));
  }

  /** The controls that some selections name, and warnings of what names none. */
  function select(
    controls: Set<ControlRecord>,
    selections: ProfileSelection[],
    verb: 'names' | 'excludes',
    warn: Warn,
  ): Set<ControlRecord> {
    const selected = new Set<ControlRecord>();
    const unknown = new Set<string>();
    const unmatched = new Set<string>();
    for (const { ids, patterns, children } of selections) {
      const found = new Set<ControlRecord>();
      const take = (some: ControlRecord[], text: string, without: Set<string>) => {
        if (some.length === 0) without.add(text);
        for (const control of some) found.add(control);
      };
      for (const id of ids) {
        const named = catalogs
          .map((catalog) => finder.controlIn(catalog, id))
          .filter((control) => control !== null)
          .filter((control) => controls.has(control));
        take(named, id, unknown);
      }
      for (const pattern of patterns) take(matching(controls, pattern.toLowerCase()), pattern, unmatched);
      if (children) for (const control of controls) if (isBelow(control, found)) found.add(control);
      for (const control of found) selected.add(control);
    }
    if (unknown.size > 0) warn(`${verb} ${unknown.size} unknown controls: ${firstOf([...unknown], 50)}`);
    if (unmatched.size > 0)
      warn(`${verb} no control by ${unmatched.size} patterns: ${firstOf([...unmatched], 50)}`);
    return selected;
  }

  function matching(controls: Set<ControlRecord>, pattern: string): ControlRecord[] {
    return [...controls].filter((control) =>
      spellingsOf(frameworkOf.get(control)!, control).some((text) => matchesGlob(text, pattern)),
    );
  }

  /** Whether a control is below one of some, at any depth. */
  function isBelow(control: ControlRecord, of: Set<ControlRecord>): boolean {
    const seen = new Set<ControlRecord>();
    for (let each = parents.get(control); each && !seen.has(each); each = parents.get(each)) {
      if (of.has(each)) return true;
      seen.add(each);
    }
    return false;
  }

  const problems: SourceProblem[] = [];
  const layers: BaselineLayer[] = [];
  const values: ResolvedValue[] = [];
  for (const profile of profiles) {
    const { record, sourceId } = profile;
    const warn = (message: string) =>
      problems.push({ sourceId, message: `the ${record.baseline} baseline ${message}` });
    const { controls, settings } = resolve(profile, new Map([[profile, null]]), warn);
    const used = catalogs.filter((catalog) => catalog.controls.some((control) => controls.has(control)));
    layers.push(...layersOf(profile, used, controls));
    const texts = parameterTexts(used);
    const strange = record.settings.filter(({ parameter }) => !texts.has(parameter));
    if (used.length > 0 && strange.length > 0) {
      const names = strange.map(({ parameter }) => excerpt(parameter));
      warn(`sets ${count(strange.length, 'unknown parameter')}: ${firstOf(names, 50)}`);
    }
    for (const setting of settings)
      for (const entry of entriesOf(setting))
        values.push({ sourceId, parameter: setting.parameter, value: withTexts(entry, texts) });
  }
  return { layers, values, problems };
}

/** The baselines of a profile: one in each revision of the catalogs that it uses, or one without a framework. */
function layersOf(
  { record, ...source }: StoredProfile,
  used: MergedCatalog[],
  controls: Set<ControlRecord>,
): BaselineLayer[] {
  const { edition, baseline, title } = record;
  const head = { ...source, edition, baseline, title };
  if (used.length === 0) return [{ ...head, framework: '', version: '', identifiers: new Set() }];
  const revisionOf = ({ framework, version }: { framework: string; version: string }) =>
    JSON.stringify([framework, versionKey(framework, version)]);
  // Releases of one revision share a baseline, which is of the release that the profile states.
  return [...Map.groupBy(used, revisionOf)].map(([revision, releases]) => {
    const [newest] = releases.toSorted((one, other) => compareVersions(other.version, one.version));
    const { framework, version } = newest!;
    const taken = releases.flatMap((each) => each.controls.filter((control) => controls.has(control)));
    return {
      ...head,
      framework,
      version: revision === revisionOf(record) ? record.version : version,
      identifiers: new Set(taken.map(({ identifier }) => identifier)),
    };
  });
}

function missing({ names, include }: ProfileImport, found: 'circular' | null): string {
  const name = excerpt(names[0] ?? '', 100);
  if (found === 'circular') return `imports itself by "${name}"`;
  const texts = include.flatMap(({ ids, patterns }) => [...ids, ...patterns]);
  return `imports "${name}", which is not imported${texts.length === 0 ? '' : `: ${firstOf(texts, 50)}`}`;
}

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
  const named = /(low|moderate|high|privacy)[-_ ](?:(?:impact|control)[-_ ])?baseline/i;
  return names
    .filter((name) => !/fedramp/i.test(name))
    .map((name) => named.exec(name)?.[1]?.toLowerCase() ?? '')
    .find(isNistBaseline);
}

function newestOf<T extends { sha256: string }>(found: T[], editionOf: (each: T) => string): T | undefined {
  return found.toSorted(
    (a, b) => compareVersions(editionOf(b), editionOf(a)) || compareCodePoints(a.sha256, b.sha256),
  )[0];
}

/** The control above each control of a catalog. */
function parentsIn({ controls }: MergedCatalog): [ControlRecord, ControlRecord | undefined][] {
  const byIdentifier = new Map(controls.map((control) => [control.identifier, control]));
  const all = new Set(byIdentifier.keys());
  return controls.map((control) => {
    const { parent = parentIn(all, control.identifier) } = control;
    return [control, byIdentifier.get(parent)];
  });
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

const parameterTexts = (catalogs: MergedCatalog[]) =>
  new Map(
    catalogs.flatMap(({ controls }) =>
      controls.flatMap(({ parameters = [] }) => parameters.map(({ id, text }) => [id, text] as const)),
    ),
  );

/** A text with the parameters in it as the catalogs show them. */
const withTexts = (text: string, texts: Map<string, string>) =>
  text.replace(insertPattern, (_, id: string) => texts.get(id) ?? '[Assignment: organization-defined value]');
