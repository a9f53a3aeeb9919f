import { compareCodePoints } from '../../src/base/text.ts';
import {
  compareVersions,
  isNistBaseline,
  nistBaselines,
  versionKey,
  withEdition,
} from '../../src/catalog/controls/frameworks.ts';
import type { Kind } from '../../src/read/kind.ts';
import type { ControlRecord } from './control-record.ts';

/** What one source states of one version of a framework. */
export interface CatalogLayer {
  sourceId: number;
  kind: Kind;
  edition: string;
  /** Breaks ties between sources of one kind and edition, so that the order of imports never matters. */
  sha256: string;
  controls: ControlRecord[];
}

/** The members of one baseline, as one profile lists them. */
export interface BaselineLayer {
  sourceId: number;
  /** `""` where the profile fits every revision. */
  version: string;
  edition: string;
  sha256: string;
  baseline: string;
  title: string;
  identifiers: Set<string>;
}

/** A baseline of one version: whose word it is, and which of the version's controls it has. */
export interface Baseline {
  name: string;
  title: string;
  sourceId: number;
  has(control: ControlRecord): boolean;
}

/**
 * The later a kind stands, the more it is believed: the publishers' own files over our interchange. Of 800-171 the CPRT
 * export is the better one: the OSCAL catalog of Rev 3 has lost brackets in the guidance of 03.05.02 and 03.05.03.
 */
const trust: Kind[] = ['controls-csv', 'oscal-catalog', 'cprt', 'dod-8500', 'cci-list'];

/** One version of a framework, of the edition (a date, "" where none is stated) that its newest source is. */
export interface MergedCatalog {
  framework: string;
  version: string;
  edition: string;
  controls: ControlRecord[];
  /** What it was made of. */
  ranked: CatalogLayer[];
}

/** The sources of one version, the most trusted and newest first. */
export function rankLayers(layers: CatalogLayer[]): CatalogLayer[] {
  return [...layers].sort(
    (a, b) =>
      trust.indexOf(b.kind) - trust.indexOf(a.kind) ||
      compareVersions(b.edition, a.edition) ||
      compareCodePoints(a.sha256, b.sha256),
  );
}

/**
 * Makes one catalog of what several sources state of it, as `rankLayers` orders them. The first says which controls there
 * are; what it leaves blank is filled from the others.
 */
export function mergeLayers(ranked: CatalogLayer[]): ControlRecord[] {
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
    const completed = controls.map((control) => {
      if (control.status === 'withdrawn' || control.statement !== '') return control;
      for (const { version, edition, byIdentifier } of older) {
        const other = byIdentifier.get(control.identifier);
        if (other?.status !== control.status || other.statement === '') continue;
        return { ...fill(control, other), textFrom: other.textFrom ?? withEdition(version, edition) };
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
  if (control.statement === '' && other.textFrom !== undefined) merged.textFrom = other.textFrom;
  return merged as unknown as ControlRecord;
}

/** Lists whose emptiness only means that the source does not say (unlike `macLevels`, which may rightly be empty). */
function keepsNothing(name: string): boolean {
  return name === 'statementParts' || name === 'related' || name === 'withdrawnInto';
}

/**
 * The baselines of a version, NIST's first, then by name: from the profiles of the version, else from the newest profiles of
 * the same revision or of none, else (for one of NIST's that no profile lists) from the catalog itself, whose sources `ranked` are.
 */
export function baselinesOf(version: string, ranked: CatalogLayer[], layers: BaselineLayer[]): Baseline[] {
  const key = versionKey('nist-800-53', version);
  const fitting = layers
    .filter((layer) => layer.version === '' || versionKey('nist-800-53', layer.version) === key)
    .sort(
      (a, b) =>
        Number(b.version === version) - Number(a.version === version) ||
        compareVersions(b.version, a.version) ||
        compareVersions(b.edition, a.edition) ||
        compareCodePoints(a.sha256, b.sha256),
    );
  const others = new Set(fitting.map(({ baseline }) => baseline).filter((name) => !isNistBaseline(name)));
  return [...nistBaselines, ...[...others].sort(compareCodePoints)].flatMap((name) => {
    const layer = fitting.find(({ baseline }) => baseline === name);
    if (layer) return [{ ...layer, name, has: ({ identifier }) => layer.identifiers.has(identifier) }];
    const states = ({ baselines }: ControlRecord) => baselines?.includes(name) ?? false;
    const source = ranked.find(({ controls }) => controls.some(states));
    const title = `The ${name} baseline of NIST SP 800-53 ${version}`;
    return source ? [{ name, title, sourceId: source.sourceId, has: states }] : [];
  });
}
