import { isNistBaseline } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { readShape } from '../read/json-shape.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { type ControlsResult, inCatalogOrder, mostControls } from './catalog.ts';
import type { BaselineRecord } from './control-record.ts';
import { type NamedCatalog, namedCatalog } from './oscal-ids.ts';
import { readMarkupOf } from './oscal-markup.ts';
import { editionOf, hyphenated, is80053, release80053 } from './oscal-publication.ts';
import { type OscalProfile, oscalShapes } from './oscal-shape.ts';
import { readParameterValues } from './profile-values.ts';

const kind = 'oscal-profile';

/** True for a JSON value with the shape of an OSCAL profile. */
export function isOscalProfile(value: unknown): boolean {
  return typeof (value as { profile?: unknown } | null)?.profile === 'object';
}

/**
 * Reads a baseline from an OSCAL profile in JSON: exactly the ids in it (rule F5.4), named after its title unless it is
 * NIST's (rule D31). Unless it names 800-53, the import finds the framework that has the ids (rule D40.1). Throws
 * `ImportError` for a broken profile, for one without ids, and for one that needs another file.
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
  const nist = is80053(metadata) ? nistBaselineOf(metadata.title) : null;
  const { profile } = readShape(shapes.profile, value, kind);
  const listed = idsOf(profile);
  if (listed.length === 0) throw new ImportError('the profile lists no controls');
  const settings = profile.modify?.['set-parameters'] ?? [];
  if (Math.max(listed.length, settings.length) > mostControls)
    throw new ImportError(`more than ${mostControls} controls or parameters`);
  const { warnings, ...release } = nist === null ? namedRelease(profile) : release80053(metadata, kind);
  const is53 = release.framework === 'nist-800-53';
  const foreign = is53 ? listed.filter(({ id }) => canonicalIdentifier(release.framework, id) === null) : [];
  if (foreign[0] && (nist !== null || foreign.length === listed.length))
    throw new ImportError(`${foreign[0].pointer}: "${excerpt(foreign[0].id)}" is not an id of 800-53`);
  if (foreign.length > 0) {
    const names = foreign.map(({ id }) => excerpt(id));
    warnings.push(`${foreign.length} ids are not of 800-53 and are ignored: ${firstOf(names, 50)}`);
  }
  const ids = listed.map(({ id }) => id);
  const known = is53 ? ids.flatMap((id) => canonicalIdentifier(release.framework, id) ?? []) : ids;
  const values = readParameterValues(settings);
  const record: BaselineRecord = {
    type: 'baseline',
    ...release,
    baseline: nist ?? nameOf(metadata.title),
    title: excerpt(collapseLine(metadata.title), 300),
    identifiers: inCatalogOrder(release.framework, known),
    ...(values.length === 0 ? {} : { values }),
  };
  return { kind, records: [record], warnings };
}

function nistBaselineOf(title: string): string | null {
  if (/fedramp/i.test(title)) return null;
  const match = /\b(?:(low|moderate|high)(?: |-)impact|(privacy)(?: control)?) baseline\b/i.exec(title);
  return match ? (match[1] ?? match[2])!.toLowerCase() : null;
}

function idsOf({ imports }: OscalProfile): { id: string; pointer: string }[] {
  return imports.flatMap((each, i) => {
    const excluded = new Set(each['exclude-controls'].flatMap((selection) => selection['with-ids']));
    return each['include-controls'].flatMap((selection, j) =>
      selection['with-ids']
        .map((id, k) => ({ id, pointer: `/profile/imports/${i}/include-controls/${j}/with-ids/${k}` }))
        .filter(({ id }) => !excluded.has(id)),
    );
  });
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
  const titled = /\bRev(?:ision|\.)? ?([45])\b/i.exec(profile.metadata.title)?.[1];
  const ofTitle = titled !== undefined && ['', 'nist-800-53'].includes(framework) ? `Rev ${titled}` : '';
  const edition = editionOf(profile.metadata, kind);
  return { framework, version: version || ofTitle, edition, warnings: [] as string[] };
}
