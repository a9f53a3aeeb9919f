import { isNistBaseline } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { type ControlsResult, inCatalogOrder, mostControls, withKind } from './catalog.ts';
import type { BaselineRecord, ParameterSetting, ProfileImport, ProfileSelection } from './control-record.ts';
import { namedCatalog, namesOf } from './named-catalog.ts';
import { readOscal } from './oscal-document.ts';
import { editionOf, hyphenated, is80053, type OscalRelease, release80053 } from './oscal-publication.ts';
import { type OscalProfile, oscalProfile } from './oscal-shape.ts';
import { entriesOf, mergeSettings, settingOf } from './profile-values.ts';

const kind = 'oscal-profile';
const mostImports = 100;

/**
 * Reads a baseline from an OSCAL profile, named after its title unless it is NIST's (rule D31). One that lists ids of
 * 800-53 alone is read as it is (rule F5.4). Any other is resolved when the catalogs are derived, whatever is imported
 * first. Throws `ImportError` for a broken profile, and for one that selects nothing.
 */
export function parseOscalProfile(value: unknown): ControlsResult {
  return withKind(kind, () => {
    const {
      document: { profile },
      unread,
    } = readOscal(oscalProfile, value, kind);
    const { metadata, modify } = profile;
    const nist = is80053(metadata) ? nistBaselineOf(metadata.title) : null;
    const release = nist === null ? null : release80053(metadata);
    const imports = profile.imports.map((each) => importOf(each, profile, release));
    checkCounts(imports, modify['set-parameters'].length);
    const settings = mergeSettings(modify['set-parameters'].map(settingOf));
    const { warnings, ...ofRelease } = release ?? namedRelease(profile, imports);
    const head = {
      ...ofRelease,
      baseline: nist ?? nameOf(metadata.title),
      title: excerpt(collapseLine(metadata.title), 300),
    };
    warnings.push(...unread);
    if (modify.alters > 0) warnings.push(`alterations of controls are not applied: ${modify.alters}`);
    if (!imports.every(listsAlone) || !settings.every(isSingle))
      return { kind, records: [{ type: 'profile', ...head, imports, settings }], warnings };
    const values = settings.flatMap((setting) =>
      entriesOf(setting).map((value) => ({ parameter: setting.parameter, value })),
    );
    const ids = imports.flatMap(({ include }) => include.flatMap((selection) => selection.ids));
    const identifiers = ids.map((id) => canonicalIdentifier('nist-800-53', id)!);
    const record: BaselineRecord = {
      type: 'baseline',
      ...head,
      identifiers: inCatalogOrder('nist-800-53', identifiers),
      ...(values.length === 0 ? {} : { values }),
    };
    return { kind, records: [record], warnings };
  });
}

/** Throws `ImportError` for a profile that selects nothing or too much. */
function checkCounts(imports: ProfileImport[], parameters: number): void {
  const count = (selections: ProfileSelection[]) =>
    selections.reduce((sum, { ids, patterns }) => sum + ids.length + patterns.length, 0);
  const selected = imports.flatMap(({ include, exclude }) => [count(include), count(exclude)]);
  if (Math.max(...selected, parameters) > mostControls || imports.length > mostImports)
    throw new ImportError(`more than ${mostControls} controls or parameters, or ${mostImports} imports`);
  if (!imports.some(({ isAll, include }) => isAll || count(include) > 0))
    throw new ImportError('the profile lists no controls');
}

type OscalImport = OscalProfile['imports'][number];

/** What a profile imports; `release` is that of a profile of NIST. */
function importOf(
  each: OscalImport,
  { metadata, 'back-matter': { resources } }: OscalProfile,
  release: OscalRelease | null,
): ProfileImport {
  const named = namedCatalog(each.href, resources);
  // A title says what the addresses do not: of NIST's baselines the framework, of others the revision.
  const framework = release?.framework ?? named.framework;
  const ofTitle = release?.version ?? revisionIn(metadata.title);
  const stated = named.framework === framework ? named.version : '';
  const included = each['include-controls'];
  return {
    ...named,
    framework,
    version: stated || (mayBe80053(framework) ? ofTitle : ''),
    names: namesOf(each.href, resources).map((name) => excerpt(name, 500)),
    isAll: each['include-all'] !== undefined || included === undefined,
    include: (included ?? []).map(selectionOf),
    exclude: each['exclude-controls'].map(selectionOf),
  };
}

const mayBe80053 = (framework: string) => ['', 'nist-800-53'].includes(framework);

const selectionOf = (each: OscalImport['exclude-controls'][number]): ProfileSelection => ({
  ids: each['with-ids'],
  patterns: each.matching.map(({ pattern }) => pattern).filter((pattern) => pattern !== ''),
  children: each['with-child-controls'] === 'yes',
});

/** Whether an import lists ids of a catalog of 800-53 alone, which no other document has to resolve. */
function listsAlone({ framework, names, isAll, include, exclude }: ProfileImport): boolean {
  const isPlain = ({ ids, patterns, children }: ProfileSelection) =>
    patterns.length === 0 && !children && ids.every((id) => canonicalIdentifier('nist-800-53', id) !== null);
  const namesCatalog = framework === 'nist-800-53' && !names.some((name) => /profile|baseline/i.test(name));
  return namesCatalog && !isAll && exclude.length === 0 && include.every(isPlain);
}

const isSingle = (setting: ParameterSetting) =>
  entriesOf(setting).length < 2 && !entriesOf(setting).some((text) => text.includes('{{'));

function nistBaselineOf(title: string): string | null {
  if (/fedramp/i.test(title)) return null;
  const match = /\b(?:(low|moderate|high)(?: |-)impact|(privacy)(?: control)?) baseline\b/i.exec(title);
  return match ? (match[1] ?? match[2])!.toLowerCase() : null;
}

/** Such as `fedramp-rev-5-moderate-baseline`. Throws for a title without a name, or with one of NIST's. */
function nameOf(title: string): string {
  const name = hyphenated(title);
  if (name === '') throw new ImportError(`the title "${excerpt(title)}" gives the baseline no name`);
  if (isNistBaseline(name))
    throw new ImportError(`the title "${excerpt(title)}" would name the baseline as one of NIST's`);
  return name;
}

/** The first catalog that the profile names, of NIST's with the revision in the profile's title where none is named. */
function namedRelease({ metadata }: OscalProfile, imports: ProfileImport[]): OscalRelease {
  const { framework, version } = imports.find((each) => each.framework !== '') ?? imports[0]!;
  return { framework, version, edition: editionOf(metadata), warnings: [] };
}

function revisionIn(title: string): string {
  const titled = /\bRev(?:ision|\.)? ?([45])\b/i.exec(title)?.[1];
  return titled === undefined ? '' : `Rev ${titled}`;
}
