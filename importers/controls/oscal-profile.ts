import { isNistBaseline } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { readShape } from '../read/json-shape.ts';
import { collapseLine, excerpt, firstOf } from '../read/source-text.ts';
import { type ControlsResult, inCatalogOrder } from './catalog.ts';
import type { BaselineRecord } from './control-record.ts';
import { editionOf, is80053, releaseOf } from './oscal-release.ts';
import { type OscalProfile, oscalProfile, oscalProfileHead } from './oscal-shape.ts';
import { readParameterValues } from './profile-values.ts';

const kind = 'oscal-profile';
const framework = 'nist-800-53';

/** True for a JSON value with the shape of an OSCAL profile. */
export function isOscalProfile(value: unknown): boolean {
  return typeof (value as { profile?: unknown } | null)?.profile === 'object';
}

/**
 * Reads a baseline of SP 800-53 from an OSCAL profile in JSON: exactly the ids in it (rule F5.4), named after its title
 * unless it is NIST's (rule D31). Returns only a reason for a profile without ids of 800-53. Throws `ImportError` for a
 * broken profile, for one without ids, and for one that needs another file.
 */
export function parseOscalProfile(value: unknown): ControlsResult {
  const { metadata } = readShape(oscalProfileHead, value, kind).profile;
  const nist = is80053(metadata) ? nistBaselineOf(metadata.title) : null;
  const { profile } = readShape(oscalProfile, value, kind);
  const listed = idsOf(profile);
  if (listed.length === 0) throw new ImportError('the profile lists no controls', kind);
  const known = listed.flatMap(({ id }) => canonicalIdentifier(framework, id) ?? []);
  const foreign = listed.filter(({ id }) => canonicalIdentifier(framework, id) === null);
  if (nist !== null && foreign[0])
    throw new ImportError(`${foreign[0].pointer}: "${excerpt(foreign[0].id)}" is not an id of 800-53`, kind);
  if (known.length === 0) {
    const reason = `a profile that is not a baseline of 800-53: ${excerpt(metadata.title, 120)}`;
    return { kind, records: null, reason };
  }
  const { warnings, ...release } = nist === null ? namedRelease(profile) : releaseOf(metadata, kind);
  if (foreign.length > 0) {
    const names = foreign.map(({ id }) => excerpt(id));
    warnings.push(`${foreign.length} ids are not of 800-53 and are ignored: ${firstOf(names, 50)}`);
  }
  const values = readParameterValues(profile.modify?.['set-parameters'] ?? []);
  const record: BaselineRecord = {
    type: 'baseline',
    framework,
    ...release,
    baseline: nist ?? nameOf(metadata.title),
    title: excerpt(collapseLine(metadata.title), 300),
    identifiers: inCatalogOrder(framework, known),
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
  const words =
    title
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const name = [...words.join('-')].slice(0, 200).join('').replace(/-$/, '');
  if (name === '') throw new ImportError(`the title "${excerpt(title)}" gives the baseline no name`, kind);
  if (isNistBaseline(name))
    throw new ImportError(`the title "${excerpt(title)}" would name the baseline as one of NIST's`, kind);
  return name;
}

/** The revision of the imported catalog, by its address or name, else by the profile's title. */
function namedRelease(profile: OscalProfile) {
  const resources = profile['back-matter']?.resources ?? [];
  const catalogs = profile.imports.flatMap(({ href }) => {
    const resource = resources.find(({ uuid }) => uuid !== '' && href === `#${uuid}`);
    return [href, ...(resource ? [resource.title, ...resource.rlinks.map((link) => link.href)] : [])];
  });
  const named = catalogs.map(
    (text) => /800-53\D{0,20}?r(?:ev(?:ision)?)?[ ._-]?([45])(?!\d)/i.exec(text)?.[1],
  );
  const titled = /\bRev(?:ision|\.)? ?([45])\b/i.exec(profile.metadata.title)?.[1];
  const revision = named.find((each) => each !== undefined) ?? titled;
  const version = revision === undefined ? '' : `Rev ${revision}`;
  return { version, edition: editionOf(profile.metadata, kind), warnings: [] as string[] };
}
