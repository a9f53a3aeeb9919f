import { compareCodePoints } from '../../src/base/text.ts';
import { compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import type { TextFrom } from '../../src/catalog/controls/schema.ts';
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

/** A control of a catalog with, where its text is that of an older release, which that is (rule F5.2). */
export interface MergedControl extends ControlRecord {
  textFrom?: TextFrom;
}

/** One version of a framework, of the edition (a date, "" where none is stated) that its newest source is. */
export interface MergedCatalog {
  framework: string;
  version: string;
  edition: string;
  controls: MergedControl[];
}

/**
 * Makes one catalog of what several sources state of it. The most trusted, newest source says which controls there
 * are, and is the edition; what it leaves blank is filled from the others.
 */
export function mergeLayers(layers: CatalogLayer[]): Pick<MergedCatalog, 'edition' | 'controls'> {
  const ranked = [...layers].sort(
    (a, b) =>
      trust.indexOf(b.kind) - trust.indexOf(a.kind) ||
      compareVersions(b.edition, a.edition) ||
      compareCodePoints(a.sha256, b.sha256),
  );
  const [top, ...others] = ranked;
  if (!top) return { edition: '', controls: [] };
  const byIdentifier = others.map(
    (layer) => new Map(layer.controls.map((control) => [control.identifier, control])),
  );
  const controls = top.controls.map((control) =>
    byIdentifier.reduce<ControlRecord>(
      (merged, layer) => fill(merged, layer.get(control.identifier)),
      control,
    ),
  );
  return { edition: /^\d{4}-\d\d-\d\d/.exec(top.edition)?.[0] ?? '', controls };
}

/**
 * The catalogs with the texts that a release of a NIST revision lacks: those of the newest older release of that revision
 * that has one for the control (rule F5.2). So who has the facts of 5.2.0 and the file of 5.1.1 reads texts, and whose.
 */
export function withOlderTexts(catalogs: MergedCatalog[]): MergedCatalog[] {
  return catalogs.map((catalog) => {
    const { framework, version, controls } = catalog;
    const older = catalogs
      .filter((each) => each.framework === framework && isOlderRelease(framework, each.version, version))
      .sort((a, b) => compareVersions(b.version, a.version))
      .map((each) => ({ ...each, byIdentifier: new Map(each.controls.map((one) => [one.identifier, one])) }));
    const completed = controls.map((control): MergedControl => {
      if (control.status === 'withdrawn' || control.statement !== '') return control;
      for (const { version, edition, byIdentifier } of older) {
        const other = byIdentifier.get(control.identifier);
        if (other?.status !== control.status || other.statement === '') continue;
        return { ...fill(control, other), textFrom: { version, edition: edition === '' ? null : edition } };
      }
      return control;
    });
    return { ...catalog, controls: completed };
  });
}

function isOlderRelease(framework: string, version: string, than: string): boolean {
  return (
    framework.startsWith('nist-') &&
    versionKey(framework, version) === versionKey(framework, than) &&
    compareVersions(version, than) < 0
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
