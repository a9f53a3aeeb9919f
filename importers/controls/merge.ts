import { compareCodePoints } from '../../src/base/text.ts';
import { compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import type { Kind } from '../read/kind.ts';
import type { ControlRecord } from './record.ts';

/** What one source states of one version of a framework. */
export interface CatalogLayer {
  kind: Kind;
  edition: string;
  /** Breaks ties between sources of one kind and edition, so that the order of imports never matters. */
  sha256: string;
  controls: ControlRecord[];
}

/** The members of one baseline, as one profile lists them. */
export interface BaselineLayer {
  version: string;
  edition: string;
  sha256: string;
  baseline: string;
  identifiers: Set<string>;
}

/**
 * The later a kind stands, the more it is believed: the publishers' own files over our interchange. Of 800-171 the CPRT
 * export is the better one: the OSCAL catalog of Rev 3 has lost brackets in the guidance of 03.05.02 and 03.05.03.
 */
const trust: Kind[] = ['controls-csv', 'oscal-catalog', 'cprt', 'dod-8500', 'cci-list'];

export const baselineNames = ['low', 'moderate', 'high', 'privacy'];

/**
 * Makes one catalog of what several sources state of it. The most trusted, newest source says which controls there
 * are; what it leaves blank is filled from the others.
 */
export function mergeLayers(layers: CatalogLayer[]): ControlRecord[] {
  const ranked = [...layers].sort(
    (a, b) =>
      trust.indexOf(b.kind) - trust.indexOf(a.kind) ||
      compareVersions(b.edition, a.edition) ||
      compareCodePoints(a.sha256, b.sha256),
  );
  const [top, ...others] = ranked;
  if (!top) return [];
  const byIdentifier = others.map(
    (layer) => new Map(layer.controls.map((control) => [control.identifier, control])),
  );
  return top.controls.map((control) =>
    byIdentifier.reduce<ControlRecord>(
      (merged, layer) => fill(merged, layer.get(control.identifier)),
      control,
    ),
  );
}

function fill(control: ControlRecord, other: ControlRecord | undefined): ControlRecord {
  if (!other || control.status !== other.status) return control;
  const merged: Record<string, unknown> = { ...control };
  for (const [name, value] of Object.entries(other)) {
    const mine = merged[name];
    if (mine === null || mine === '' || (Array.isArray(mine) && mine.length === 0 && keepsNothing(name)))
      merged[name] = value;
  }
  return merged as unknown as ControlRecord;
}

/** Lists whose emptiness only means that the source does not say (unlike `macLevels`, which may rightly be empty). */
function keepsNothing(name: string): boolean {
  return name === 'statementParts' || name === 'related' || name === 'withdrawnInto';
}

/**
 * The baselines of a control: from the profiles of the version, else from the newest profiles of the same revision,
 * else (for a baseline that no profile lists) from the catalog itself. In the order low, moderate, high, privacy.
 */
export function baselinesOf(version: string, layers: BaselineLayer[]): (control: ControlRecord) => string[] {
  const members = new Map<string, Set<string>>();
  for (const baseline of baselineNames) {
    const fitting = layers
      .filter((layer) => layer.baseline === baseline)
      .filter((layer) => versionKey('nist-800-53', layer.version) === versionKey('nist-800-53', version))
      .sort(
        (a, b) =>
          Number(b.version === version) - Number(a.version === version) ||
          compareVersions(b.version, a.version) ||
          compareVersions(b.edition, a.edition) ||
          compareCodePoints(a.sha256, b.sha256),
      );
    if (fitting[0]) members.set(baseline, fitting[0].identifiers);
  }
  return (control) => {
    if (control.status === 'withdrawn') return [];
    return baselineNames.filter(
      (baseline) =>
        members.get(baseline)?.has(control.identifier) ?? control.baselines?.includes(baseline) ?? false,
    );
  };
}
