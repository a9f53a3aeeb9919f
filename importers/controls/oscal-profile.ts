import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../read/errors.ts';
import { readShape } from '../read/json.ts';
import { excerpt } from '../read/text.ts';
import { type ControlsResult, inCatalogOrder } from './catalog.ts';
import { is80053, releaseOf } from './oscal-release.ts';
import { oscalProfile, oscalProfileHead } from './oscal-shape.ts';
import type { BaselineRecord } from './record.ts';

const kind = 'oscal-profile';
const framework = 'nist-800-53';

/** True for a JSON value in the form of an OSCAL profile. */
export function isOscalProfile(value: unknown): boolean {
  return typeof (value as { profile?: unknown } | null)?.profile === 'object';
}

/**
 * Reads a baseline of SP 800-53 from its OSCAL profile, in the form of the JSON: exactly the ids that it lists (rule F5.4). Profiles of
 * other publishers are skipped. Throws `ImportError` for a profile that is broken, lists nothing or an id that is none.
 */
export function parseOscalProfile(value: unknown): ControlsResult {
  const { metadata } = readShape(oscalProfileHead, value, kind).profile;
  const baseline = is80053(metadata) ? baselineOf(metadata.title) : null;
  if (baseline === null) {
    const reason = `a profile that is not a baseline of 800-53: ${excerpt(metadata.title, 120)}`;
    return { kind, records: null, reason };
  }
  const { profile } = readShape(oscalProfile, value, kind);
  const { version, edition, warnings } = releaseOf(profile.metadata, kind);
  const identifiers = profile.imports.flatMap((each, i) =>
    each['include-controls'].flatMap((selection, j) =>
      selection['with-ids'].map((id, k) => {
        const identifier = canonicalIdentifier(framework, id);
        if (identifier !== null) return identifier;
        const pointer = `/profile/imports/${i}/include-controls/${j}/with-ids/${k}`;
        throw new ImportError(`${pointer}: "${excerpt(id)}" is not an id of 800-53`, kind);
      }),
    ),
  );
  if (identifiers.length === 0) throw new ImportError('the profile lists no controls', kind);
  const record: BaselineRecord = {
    type: 'baseline',
    framework,
    version,
    edition,
    baseline,
    identifiers: inCatalogOrder(framework, identifiers),
  };
  return { kind, records: [record], warnings };
}

function baselineOf(title: string): BaselineRecord['baseline'] | null {
  if (/fedramp/i.test(title)) return null;
  const match = /\b(?:(low|moderate|high)(?: |-)impact|(privacy)(?: control)?) baseline\b/i.exec(title);
  return match ? ((match[1] ?? match[2])!.toLowerCase() as BaselineRecord['baseline']) : null;
}
