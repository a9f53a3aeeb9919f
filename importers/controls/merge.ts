import { compareCodePoints } from '../../src/base/text.ts';
import { assessmentFields } from '../../src/catalog/controls/assessment-record.ts';
import {
  compareVersions,
  isNistBaseline,
  nistBaselines,
  versionKey,
  withEdition,
} from '../../src/catalog/controls/frameworks.ts';
import type { Database } from '../../src/db/database.ts';
import type { Kind } from '../../src/read/import-error.ts';
import { inCatalogOrder } from './catalog.ts';
import type { ControlRecord } from './control-record.ts';

/** One version of a framework as one source states it. */
export interface CatalogLayer {
  framework: string;
  version: string;
  sourceId: number;
  source: string;
  kind: Kind;
  edition: string;
  /** Breaks ties within a kind and edition: the order of imports must not matter. */
  sha256: string;
  controls: ControlRecord[];
}

/** One baseline as one profile lists it. */
export interface BaselineLayer {
  sourceId: number;
  /** `""` where no catalog has its controls. */
  framework: string;
  version: string;
  edition: string;
  sha256: string;
  baseline: string;
  title: string;
  identifiers: Set<string>;
}

/** A baseline of one version: the source that defines it, and whether it has a control. */
export interface Baseline {
  name: string;
  title: string;
  sourceId: number;
  has(control: ControlRecord): boolean;
}

/**
 * From the least to the most trusted kind. The publishers' files come after our interchange. For 800-171, CPRT comes
 * after the OSCAL catalog, which lacks brackets in the guidance of 03.05.02 and 03.05.03.
 */
const trust: Kind[] = ['controls-csv', 'oscal-catalog', 'cprt', 'dod-8500', 'cci-list'];

/** One version of a framework from all its sources; `edition` is a date or "". */
export interface MergedCatalog {
  framework: string;
  version: string;
  edition: string;
  controls: ControlRecord[];
  ranked: CatalogLayer[];
}

/** Reads the catalogs of all sources, those of one version together. */
export function readLayers({ sqlite }: Database): CatalogLayer[][] {
  const layers = sqlite
    .prepare<[], Omit<CatalogLayer, 'controls'> & { records: string }>(
      `SELECT f.framework, f.version, f.source_id AS sourceId, s.source, s.kind, f.edition, s.sha256,
              json_group_array(json(f.record)) AS records
         FROM control_facts AS f JOIN sources AS s ON s.id = f.source_id
        GROUP BY f.framework, f.version, f.source_id, f.edition`,
    )
    .all()
    .map(({ records, ...layer }) => ({ ...layer, controls: JSON.parse(records) as ControlRecord[] }));
  return [...Map.groupBy(layers, ({ framework, version }) => JSON.stringify([framework, version])).values()];
}

/** Merges the catalogs of all sources. */
export function readCatalogs(db: Database): MergedCatalog[] {
  return withOlderTexts(readLayers(db).map(mergeLayers));
}

/**
 * Merges the sources of one version, the most trusted and newest first: the first one has all controls, the others fill
 * its empty fields. The controls are in catalog order.
 */
function mergeLayers(layers: CatalogLayer[]): MergedCatalog {
  const ranked = layers.toSorted(
    (a, b) =>
      trust.indexOf(b.kind) - trust.indexOf(a.kind) ||
      compareVersions(b.edition, a.edition) ||
      compareCodePoints(a.sha256, b.sha256),
  );
  const [top, ...others] = ranked;
  const { framework, version } = top!;
  const merged = indexOf(top!);
  for (const other of others)
    for (const control of other.controls) {
      const known = merged.get(control.identifier);
      if (known) merged.set(control.identifier, fill(known, control));
    }
  const controls = inCatalogOrder(framework, merged.keys()).map((identifier) => merged.get(identifier)!);
  const edition = /^\d{4}-\d\d-\d\d/.exec(top!.edition)?.[0] ?? '';
  return { framework, version, edition, controls, ranked };
}

const indexOf = ({ controls }: { controls: ControlRecord[] }) =>
  new Map(controls.map((control) => [control.identifier, control]));

/**
 * Adds missing texts to the releases of a NIST revision and to CCI lists, from the newest older release with one (rules
 * F5.2, D54.1). For example, a site with the facts of 5.2.0 and the file of 5.1.1 shows the texts of 5.1.1 and says so.
 */
function withOlderTexts(catalogs: MergedCatalog[]): MergedCatalog[] {
  return catalogs.map((catalog) => {
    const { framework, version, controls } = catalog;
    // A deprecated CCI keeps its definition.
    const isCci = framework === 'cci';
    const older = catalogs
      .filter((each) => each.framework === framework && isOlderRelease(framework, each.version, version))
      .sort((a, b) => compareVersions(b.version, a.version))
      .map((each) => ({ ...each, byIdentifier: indexOf(each) }));
    const completed = controls.map((control) => {
      if (control.statement !== '' || (control.status === 'withdrawn' && !isCci)) return control;
      for (const { version, edition, byIdentifier } of older) {
        const other = byIdentifier.get(control.identifier);
        if (other === undefined || other.statement === '') continue;
        if (other.status !== control.status && !isCci) continue;
        const completed = isCci ? { ...control, statement: other.statement } : fill(control, other);
        return { ...completed, textFrom: other.textFrom ?? withEdition(version, edition) };
      }
      return control;
    });
    return { ...catalog, controls: completed };
  });
}

function isOlderRelease(framework: string, version: string, than: string): boolean {
  const isSame = framework === 'cci' || versionKey(framework, version) === versionKey(framework, than);
  const hasReleases = framework === 'cci' || framework.startsWith('nist-');
  return hasReleases && isSame && compareVersions(version, than) < 0;
}

/** Lists that are absent or empty where the source does not state them, unlike `macLevels`. */
const unstatedLists: readonly string[] = ['statementParts', 'related', 'withdrawnInto', ...assessmentFields];

/** A control with what another source states and its own does not. */
function fill(control: ControlRecord, other: ControlRecord): ControlRecord {
  if (control.status !== other.status) return control;
  const isMissing = (name: string) => {
    const value = (control as unknown as Record<string, unknown>)[name];
    if (name === 'textFrom') return control.statement === '';
    if (unstatedLists.includes(name)) return value === undefined || (value as unknown[]).length === 0;
    return value === null || value === '';
  };
  return { ...control, ...Object.fromEntries(Object.entries(other).filter(([name]) => isMissing(name))) };
}

/**
 * The baselines of a version, NIST's first, then by name. They come from profiles of the version, else from the newest
 * profiles that fit its revision. A NIST baseline without a profile comes from the `ranked` sources of the catalog.
 */
export function baselinesOf(
  { framework, version, ranked }: MergedCatalog,
  layers: BaselineLayer[],
): Baseline[] {
  const key = versionKey(framework, version);
  const fitting = layers
    .filter((layer) => layer.framework === framework)
    .filter((layer) => layer.version === '' || versionKey(framework, layer.version) === key)
    .sort(
      (a, b) =>
        Number(b.version === version) - Number(a.version === version) ||
        compareVersions(b.version, a.version) ||
        compareVersions(b.edition, a.edition) ||
        compareCodePoints(a.sha256, b.sha256),
    );
  const others = new Set(fitting.map(({ baseline }) => baseline).filter((name) => !isNistBaseline(name)));
  const nist = framework === 'nist-800-53' ? nistBaselines : [];
  return [...nist, ...[...others].sort(compareCodePoints)].flatMap((name) => {
    const layer = fitting.find(({ baseline }) => baseline === name);
    if (layer) return [{ ...layer, name, has: ({ identifier }) => layer.identifiers.has(identifier) }];
    const states = ({ baselines }: ControlRecord) => baselines?.includes(name) ?? false;
    const source = ranked.find(({ controls }) => controls.some(states));
    const title = `The ${name} baseline of NIST SP 800-53 ${version}`;
    return source ? [{ name, title, sourceId: source.sourceId, has: states }] : [];
  });
}
