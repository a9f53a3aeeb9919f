import { isNistBaseline } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { countAt, readShape } from '../read/json-shape.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { type ControlsResult, inCatalogOrder, mostControls } from './catalog.ts';
import type {
  BaselineRecord,
  NamedCatalog,
  ParameterSetting,
  ProfileImport,
  ProfileSelection,
} from './control-record.ts';
import { namedCatalog } from './oscal-ids.ts';
import { readMarkupOf } from './oscal-markup.ts';
import { editionOf, hyphenated, is80053, release80053 } from './oscal-publication.ts';
import { type OscalProfile, oscalShapes } from './oscal-shape.ts';
import { unreadIn } from './oscal-unread.ts';
import { entriesOf, mergeSettings, settingOf } from './profile-values.ts';

const kind = 'oscal-profile';
const mostImports = 100;

/** True for a JSON value with the shape of an OSCAL profile. */
export function isOscalProfile(value: unknown): boolean {
  return typeof (value as { profile?: unknown } | null)?.profile === 'object';
}

/**
 * Reads a baseline from an OSCAL profile in JSON, named after its title unless it is NIST's (rule D31). One that lists
 * ids of 800-53 alone is read as it is (rule F5.4). Any other is resolved when the catalogs are derived, whatever is
 * imported first. Throws `ImportError` for a broken profile, and for one that selects nothing.
 */
export function parseOscalProfile(value: unknown): ControlsResult {
  try {
    return readProfile(value);
  } catch (error) {
    if (error instanceof ImportError) error.kind = kind;
    throw error;
  }
}

function readProfile(value: unknown): ControlsResult {
  const shapes = oscalShapes(readMarkupOf(value));
  const { metadata } = readShape(shapes.profileHead, value, kind).profile;
  checkCounts(value);
  const nist = is80053(metadata) ? nistBaselineOf(metadata.title) : null;
  const { profile } = readShape(shapes.profile, value, kind);
  const { warnings, ...release } = nist === null ? namedRelease(profile) : release80053(metadata, kind);
  const head = {
    ...release,
    baseline: nist ?? nameOf(metadata.title),
    title: excerpt(collapseLine(metadata.title), 300),
  };
  const imports = profile.imports.map((each) => importOf(each, profile, nist, release.version));
  if (!imports.some(({ isAll, include }) => isAll || include.some(selectsAny)))
    throw new ImportError('the profile lists no controls');
  const alters = profile.modify?.alters.length ?? 0;
  warnings.push(...unreadIn(value));
  if (alters > 0) warnings.push(`alterations of controls are not applied: ${alters}`);
  const settings = mergeSettings((profile.modify?.['set-parameters'] ?? []).map(settingOf));
  if (!imports.every((each) => listsAlone(each, nist)) || !settings.every(isSingle))
    return { kind, records: [{ type: 'profile', ...head, imports, settings }], warnings };
  const listed = profile.imports.flatMap((each, i) =>
    (each['include-controls'] ?? []).flatMap((selection, j) =>
      selection['with-ids'].map((id, k) => ({ id, at: `${i}/include-controls/${j}/with-ids/${k}` })),
    ),
  );
  const foreign = listed.filter(({ id }) => canonicalIdentifier('nist-800-53', id) === null);
  if (foreign[0] && (nist !== null || foreign.length === listed.length))
    throw new ImportError(
      `/profile/imports/${foreign[0].at}: "${excerpt(foreign[0].id)}" is not an id of 800-53`,
    );
  if (foreign.length > 0) {
    const names = foreign.map(({ id }) => excerpt(id));
    warnings.push(`${foreign.length} ids are not of 800-53 and are ignored: ${firstOf(names, 50)}`);
  }
  const identifiers = listed.flatMap(({ id }) => canonicalIdentifier('nist-800-53', id) ?? []);
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

/** The bounds come before the shape. */
function checkCounts(value: unknown): void {
  const counts = [
    ...['with-ids', 'matching'].flatMap((name) =>
      ['include-controls', 'exclude-controls'].map((list) =>
        countAt(value, ['profile', 'imports', list, name]),
      ),
    ),
    countAt(value, ['profile', 'modify', 'set-parameters']),
  ];
  if (counts.some((each) => each > mostControls) || countAt(value, ['profile', 'imports']) > mostImports)
    throw new ImportError(`more than ${mostControls} controls or parameters, or ${mostImports} imports`);
}

type OscalImport = OscalProfile['imports'][number];

function importOf(
  each: OscalImport,
  profile: OscalProfile,
  nist: string | null,
  version: string,
): ProfileImport {
  const resources = profile['back-matter']?.resources ?? [];
  const named = namedCatalog(each.href, resources);
  const resource = resources.find(({ uuid }) => uuid !== '' && each.href === `#${uuid}`);
  const names = [resource?.title ?? '', ...(resource?.rlinks ?? []).map(({ href }) => href), each.href];
  // A title says what the addresses do not: of NIST's baselines the framework, of others the revision.
  const framework = nist === null ? named.framework : 'nist-800-53';
  const of53 = nist === null ? revisionIn(profile.metadata.title) : version;
  const isOf53 = ['', 'nist-800-53'].includes(framework);
  return {
    ...named,
    framework,
    version: (named.framework === framework && named.version) || (isOf53 ? of53 : ''),
    names: names.filter((name) => name !== '').map((name) => excerpt(name, 500)),
    isAll: each['include-all'] !== undefined || each['include-controls'] === undefined,
    include: (each['include-controls'] ?? []).map(selectionOf),
    exclude: each['exclude-controls'].map(selectionOf),
  };
}

const selectionOf = (each: NonNullable<OscalImport['include-controls']>[number]): ProfileSelection => ({
  ids: each['with-ids'],
  patterns: each.matching.map(({ pattern }) => pattern).filter((pattern) => pattern !== ''),
  children: each['with-child-controls'] === 'yes',
});

const selectsAny = ({ ids, patterns }: ProfileSelection) => ids.length > 0 || patterns.length > 0;

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

/** The catalog that the profile imports, of NIST's with the revision in the profile's title where none is named. */
function namedRelease(profile: OscalProfile) {
  const resources = profile['back-matter']?.resources ?? [];
  const named = profile.imports.map(({ href }) => namedCatalog(href, resources));
  const { framework, version }: NamedCatalog = named.find((each) => each.framework !== '') ?? named[0]!;
  const ofTitle = ['', 'nist-800-53'].includes(framework) ? revisionIn(profile.metadata.title) : '';
  const edition = editionOf(profile.metadata, kind);
  return { framework, version: version || ofTitle, edition, warnings: [] as string[] };
}

function revisionIn(title: string): string {
  const titled = /\bRev(?:ision|\.)? ?([45])\b/i.exec(title)?.[1];
  return titled === undefined ? '' : `Rev ${titled}`;
}
