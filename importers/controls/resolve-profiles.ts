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
import { type CatalogFinder, fileStem } from './named-catalog.ts';
import { insertPattern } from './oscal-texts.ts';
import { entriesOf, mergeSettings } from './profile-values.ts';

/** A profile as it is stored. */
export interface StoredProfile extends ProfileRecord {
  sourceId: number;
  source: string;
  sha256: string;
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
 * Resolves profiles over catalogs and one another as OSCAL's profile resolution says (rule D31): what each import
 * includes without what it excludes, together. A profile is one baseline in each catalog from which it takes controls.
 * The parents that a resolved catalog adds are not in it (rule F5.4). The order of imports does not matter.
 */
export function resolveProfiles(
  profiles: StoredProfile[],
  listed: ListedBaseline[],
  catalogs: MergedCatalog[],
  finder: CatalogFinder,
) {
  const parents = new Map(catalogs.flatMap(parentsIn));

  function resolve(profile: StoredProfile, resolved: ResolvedProfiles, warn: Warn): Selected {
    const controls = new Set<ControlRecord>();
    const settings: ParameterSetting[] = [];
    for (const each of profile.imports) {
      const imported = importedBy(each, resolved);
      if (typeof imported === 'string') {
        warn(imported);
        continue;
      }
      const included = each.isAll
        ? imported.controls
        : select(imported.controls, each.include, 'names', warn);
      const excluded = select(imported.controls, each.exclude, 'excludes', warn);
      for (const control of included) if (!excluded.has(control)) controls.add(control);
      settings.push(...imported.settings);
    }
    return { controls, settings: mergeSettings([...settings, ...profile.settings]) };
  }

  /** What an import refers to: a profile, a baseline, or the catalogs of a framework; a warning where there is none. */
  function importedBy(each: ProfileImport, resolved: ResolvedProfiles): Selected | string {
    const { names, include, framework, version } = each;
    const name = excerpt(names[0] ?? '', 100);
    const profile = newestNamed(each, profiles);
    if (profile !== undefined) {
      if (!resolved.has(profile)) {
        resolved.set(profile, null);
        resolved.set(
          profile,
          resolve(profile, resolved, () => {}),
        );
      }
      return resolved.get(profile) ?? `imports itself by "${name}"`;
    }
    const baseline = newestNamed(each, listed);
    const ofBaseline = baseline ? catalogsOf(baseline.framework, baseline.version) : [];
    if (baseline && ofBaseline.length > 0) {
      const members = controlsIn(ofBaseline).filter(({ identifier }) => baseline.identifiers.has(identifier));
      return { controls: new Set(members), settings: baseline.settings };
    }
    const nist = framework === 'nist-800-53' ? nistBaselineIn(names) : undefined;
    const ofNist = catalogsOf(framework, version).flatMap((catalog) => {
      const found = baselinesOf(catalog, listed).find((one) => one.name === nist);
      return found === undefined ? [] : [{ controls: catalog.controls.filter(found.has) }];
    });
    const found = ofNist.length > 0 ? ofNist : catalogsNamedBy(each);
    if (found.length > 0) return { controls: new Set(controlsIn(found)), settings: [] };
    const texts = include.flatMap(({ ids, patterns }) => [...ids, ...patterns]);
    return `imports "${name}", which is not imported${texts.length === 0 ? '' : `: ${firstOf(texts, 50)}`}`;
  }

  const catalogsOf = (framework: string, version: string) =>
    catalogs.filter((catalog) => catalog.framework === framework && fits(catalog, version));

  /** The catalogs that an import names, else those of the framework that has most of its ids. */
  function catalogsNamedBy(each: ProfileImport): MergedCatalog[] {
    const named = catalogs.filter((catalog) => finder.isNamed(catalog, each) && fits(catalog, each.version));
    if (named.length > 0) return named;
    const ids = each.include.flatMap((selection) => selection.ids);
    const framework = finder.find(ids, each)?.framework;
    if (framework === undefined) return [];
    const isOfVersion =
      framework === each.framework || (each.framework === '' && framework === 'nist-800-53');
    return catalogsOf(framework, isOfVersion ? each.version : '');
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
      const add = (some: ControlRecord[], text: string, without: Set<string>) => {
        const inside = some.filter((control) => controls.has(control));
        if (inside.length === 0) without.add(text);
        for (const control of inside) found.add(control);
      };
      for (const id of ids) add(finder.controlsWith(id), id, unknown);
      for (const pattern of patterns) {
        const isMatching = (text: string) => matchesGlob(text, pattern.toLowerCase());
        add(finder.controlsNamed(isMatching), pattern, unmatched);
      }
      if (children) for (const control of controls) if (isBelow(control, found)) found.add(control);
      for (const control of found) selected.add(control);
    }
    if (unknown.size > 0) warn(`${verb} ${unknown.size} unknown controls: ${firstOf([...unknown], 50)}`);
    if (unmatched.size > 0)
      warn(`${verb} no control by ${unmatched.size} patterns: ${firstOf([...unmatched], 50)}`);
    return selected;
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
    const { sourceId, baseline } = profile;
    const warn = (message: string) =>
      problems.push({ sourceId, message: `the ${baseline} baseline ${message}` });
    const { controls, settings } = resolve(profile, new Map([[profile, null]]), warn);
    const used = catalogs.filter((catalog) => catalog.controls.some((control) => controls.has(control)));
    layers.push(...layersOf(profile, used, controls));
    const texts = new Map(
      controlsIn(used).flatMap(({ parameters = [] }) => parameters.map(({ id, text }) => [id, text])),
    );
    const unknown = profile.settings.filter(({ parameter }) => !texts.has(parameter));
    if (used.length > 0 && unknown.length > 0) {
      const names = unknown.map(({ parameter }) => excerpt(parameter));
      warn(`sets ${count(unknown.length, 'unknown parameter')}: ${firstOf(names, 50)}`);
    }
    for (const setting of settings)
      for (const entry of entriesOf(setting)) {
        const value = entry.replace(
          insertPattern,
          (_, id: string) => texts.get(id) ?? '[Assignment: organization-defined value]',
        );
        values.push({ sourceId, parameter: setting.parameter, value });
      }
  }
  return { layers, values, problems };
}

const controlsIn = (catalogs: { controls: ControlRecord[] }[]) =>
  catalogs.flatMap(({ controls }) => controls);

/** The baselines of a profile: one in each revision of the catalogs that it uses, or one without a framework. */
function layersOf(
  profile: StoredProfile,
  used: MergedCatalog[],
  controls: Set<ControlRecord>,
): BaselineLayer[] {
  const { sourceId, sha256, edition, baseline, title } = profile;
  const head = { sourceId, sha256, edition, baseline, title };
  if (used.length === 0) return [{ ...head, framework: '', version: '', identifiers: new Set() }];
  const revisionOf = ({ framework, version }: { framework: string; version: string }) =>
    JSON.stringify([framework, versionKey(framework, version)]);
  // Releases of one revision share a baseline, which is of the release that the profile states.
  return [...Map.groupBy(used, revisionOf)].map(([revision, releases]) => {
    const [newest] = releases.toSorted((one, other) => compareVersions(other.version, one.version));
    const { framework, version } = revision === revisionOf(profile) ? profile : newest!;
    const members = controlsIn(releases).filter((control) => controls.has(control));
    return { ...head, framework, version, identifiers: new Set(members.map((each) => each.identifier)) };
  });
}

const fits = ({ framework, version }: MergedCatalog, stated: string) =>
  stated === '' || versionKey(framework, version) === versionKey(framework, stated);

/** Letters and digits alone: addresses write a title without blanks. */
const plainName = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** The newest of the documents that an import names by their titles or by the names of their files. */
function newestNamed<T extends { title: string; source: string; edition: string; sha256: string }>(
  { names }: ProfileImport,
  documents: T[],
): T | undefined {
  return documents
    .filter(({ title, source }) => {
      const titles = [plainName(title), plainName(`${title} profile`)];
      return names.some((name) => {
        const stem = fileStem(name);
        const isStem = stem !== '' && (stem === fileStem(source) || titles.includes(plainName(stem)));
        return isStem || titles.includes(plainName(name));
      });
    })
    .sort((a, b) => compareVersions(b.edition, a.edition) || compareCodePoints(a.sha256, b.sha256))[0];
}

/** The baseline of NIST in the name of its profile: `NIST_SP-800-53_rev5_MODERATE-baseline_profile.json`. */
function nistBaselineIn(names: string[]): string | undefined {
  const named = /(low|moderate|high|privacy)[-_ ](?:(?:impact|control)[-_ ])?baseline/i;
  return names
    .filter((name) => !/fedramp/i.test(name))
    .map((name) => named.exec(name)?.[1]?.toLowerCase() ?? '')
    .find(isNistBaseline);
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
