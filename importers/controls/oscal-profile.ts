import { isNistBaseline } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { type ControlsResult, inCatalogOrder, mostControls, withKind } from './catalog.ts';
import type {
  BaselineRecord,
  NamedCatalog,
  ParameterSetting,
  ProfileImport,
  ProfileSelection,
} from './control-record.ts';
import { namedCatalog } from './named-catalog.ts';
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
    checkCounts(profile);
    const nist = is80053(metadata) ? nistBaselineOf(metadata.title) : null;
    const named = profile.imports.map(({ href }) => namedCatalog(href, profile['back-matter'].resources));
    const { warnings, ...release } = nist === null ? namedRelease(profile, named) : release80053(metadata);
    const imports = profile.imports.map((each, index) =>
      importOf(each, named[index]!, profile, nist === null ? null : release.version),
    );
    const settings = mergeSettings(modify['set-parameters'].map(settingOf));
    const head = {
      ...release,
      baseline: nist ?? nameOf(metadata.title),
      title: excerpt(collapseLine(metadata.title), 300),
    };
    warnings.push(...unread);
    if (modify.alters > 0) warnings.push(`alterations of controls are not applied: ${modify.alters}`);
    if (imports.every((each) => listsAlone(each, nist)) && settings.every(isSingle)) {
      const identifiers = listedIn(profile, nist !== null, warnings);
      const values = settings.flatMap((setting) =>
        entriesOf(setting).map((value) => ({ parameter: setting.parameter, value })),
      );
      const record: BaselineRecord = {
        type: 'baseline',
        ...head,
        identifiers: inCatalogOrder('nist-800-53', identifiers),
        ...(values.length === 0 ? {} : { values }),
      };
      return { kind, records: [record], warnings };
    }
    return { kind, records: [{ type: 'profile', ...head, imports, settings }], warnings };
  });
}

type OscalImport = OscalProfile['imports'][number];

/** Throws `ImportError` for a profile that selects nothing or too much. */
function checkCounts({ imports, modify }: OscalProfile): void {
  const count = (selections: OscalImport['exclude-controls']) =>
    selections.map(selectionOf).reduce((sum, { ids, patterns }) => sum + ids.length + patterns.length, 0);
  const included = imports.map((each) => count(each['include-controls'] ?? []));
  const excluded = imports.map((each) => count(each['exclude-controls']));
  const most = Math.max(...included, ...excluded, modify['set-parameters'].length);
  if (most > mostControls || imports.length > mostImports)
    throw new ImportError(`more than ${mostControls} controls or parameters, or ${mostImports} imports`);
  if (!imports.some((each, index) => isAll(each) || included[index]! > 0))
    throw new ImportError('the profile lists no controls');
}

const isAll = (each: OscalImport) =>
  each['include-all'] !== undefined || each['include-controls'] === undefined;

/** What a profile imports; `release` is the version of a profile of NIST. */
function importOf(
  each: OscalImport,
  named: NamedCatalog,
  { metadata, 'back-matter': { resources } }: OscalProfile,
  release: string | null,
): ProfileImport {
  const resource = resources.find(({ uuid }) => uuid !== '' && each.href === `#${uuid}`);
  const names = [resource?.title ?? '', ...(resource?.rlinks ?? []).map(({ href }) => href), each.href];
  // A title says what the addresses do not: of NIST's baselines the framework, of others the revision.
  const framework = release === null ? named.framework : 'nist-800-53';
  const stated = named.framework === framework ? named.version : '';
  return {
    ...named,
    framework,
    version: stated || (mayBe80053(framework) ? (release ?? revisionIn(metadata.title)) : ''),
    names: names.filter((name) => name !== '').map((name) => excerpt(name, 500)),
    isAll: isAll(each),
    include: (each['include-controls'] ?? []).map(selectionOf),
    exclude: each['exclude-controls'].map(selectionOf),
  };
}

const mayBe80053 = (framework: string) => ['', 'nist-800-53'].includes(framework);

const selectionOf = (each: OscalImport['exclude-controls'][number]): ProfileSelection => ({
  ids: each['with-ids'],
  patterns: each.matching.map(({ pattern }) => pattern).filter((pattern) => pattern !== ''),
  children: each['with-child-controls'] === 'yes',
});

/** Whether an import lists ids of a catalog of 800-53, which no other document has to resolve. */
function listsAlone(
  { framework, names, isAll, include, exclude }: ProfileImport,
  nist: string | null,
): boolean {
  const isPlain = ({ patterns, children }: ProfileSelection) => patterns.length === 0 && !children;
  const namesCatalog = framework === 'nist-800-53' && !names.some((name) => /profile|baseline/i.test(name));
  return (
    (nist !== null || names.some((name) => /800-53/.test(name))) &&
    namesCatalog &&
    !isAll &&
    exclude.length === 0 &&
    include.every(isPlain)
  );
}

const isSingle = (setting: ParameterSetting) =>
  entriesOf(setting).length < 2 && !entriesOf(setting).some((text) => text.includes('{{'));

/** The listed controls of 800-53. Warns of other ids; throws `ImportError` where there are only such, or in one of NIST. */
function listedIn({ imports }: OscalProfile, isNist: boolean, warnings: string[]): string[] {
  const listed = imports.flatMap((each, i) =>
    (each['include-controls'] ?? []).flatMap((selection, j) =>
      selection['with-ids'].map((id, k) => ({
        id,
        identifier: canonicalIdentifier('nist-800-53', id),
        pointer: `/profile/imports/${i}/include-controls/${j}/with-ids/${k}`,
      })),
    ),
  );
  const foreign = listed.filter(({ identifier }) => identifier === null);
  if (foreign[0] && (isNist || foreign.length === listed.length))
    throw new ImportError(`${foreign[0].pointer}: "${excerpt(foreign[0].id)}" is not an id of 800-53`);
  if (foreign.length > 0) {
    const names = foreign.map(({ id }) => excerpt(id));
    warnings.push(`${foreign.length} ids are not of 800-53 and are ignored: ${firstOf(names, 50)}`);
  }
  return listed.map(({ identifier }) => identifier).filter((identifier) => identifier !== null);
}

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
function namedRelease({ metadata }: OscalProfile, named: NamedCatalog[]): OscalRelease {
  const { framework, version } = named.find((each) => each.framework !== '') ?? named[0]!;
  const ofTitle = mayBe80053(framework) ? revisionIn(metadata.title) : '';
  return { framework, version: version || ofTitle, edition: editionOf(metadata), warnings: [] };
}

function revisionIn(title: string): string {
  const titled = /\bRev(?:ision|\.)? ?([45])\b/i.exec(title)?.[1];
  return titled === undefined ? '' : `Rev ${titled}`;
}
