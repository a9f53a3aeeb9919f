import { compareCodePoints } from '../../src/base/text.ts';
import { assessmentFields } from '../../src/catalog/controls/assessment-record.ts';
import {
  compareVersions,
  isNistBaseline,
  nistBaselines,
  versionKey,
  withEdition,
} from '../../src/catalog/controls/frameworks.ts';
import type { Kind } from '../../src/read/import-error.ts';
import type { ControlRecord } from './control-record.ts';

/** One version of a framework as one source states it. */
export interface CatalogLayer {
  sourceId: number;
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

/** Sorts the sources of one version, the most trusted and newest first. */
export function rankLayers(layers: CatalogLayer[]): CatalogLayer[] {
  return [...layers].sort(
    (a, b) =>
      trust.indexOf(b.kind) - trust.indexOf(a.kind) ||
      compareVersions(b.edition, a.edition) ||
      compareCodePoints(a.sha256, b.sha256),
  );
}

/** Merges sources in the order of `rankLayers`: the first one has all controls, the others fill its empty fields. */
export function mergeLayers(ranked: CatalogLayer[]): ControlRecord[] {
  const [top, ...others] = ranked;
  if (!top) return [];
  return others.reduce((controls, layer) => {
    const byIdentifier = indexOf(layer);
    return controls.map((control) => fill(control, byIdentifier.get(control.identifier)));
  }, top.controls);
}

const indexOf = ({ controls }: { controls: ControlRecord[] }) =>
  new Map(controls.map((control) => [control.identifier, control]));

/**
 * Adds missing texts to the releases of a NIST revision and to CCI lists, from the newest older release with one (rules
 * F5.2, D54.1). For example, a site with the facts of 5.2.0 and the file of 5.1.1 shows the texts of 5.1.1 and says so.
 */
export function withOlderTexts(catalogs: MergedCatalog[]): MergedCatalog[] {
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

/** Lists that are empty because the source does not state them, unlike `macLevels`. */
const unstatedLists = ['statementParts', 'related', 'withdrawnInto'];

/** A control with what another source states and its own does not. */
function fill(control: ControlRecord, other: ControlRecord | undefined): ControlRecord {
  if (!other || control.status !== other.status) return control;
  const own: Record<string, unknown> = { ...control };
  const isMissing = (name: string) => {
    if (name === 'textFrom') return control.statement === '';
    if (unstatedLists.includes(name)) return (own[name] as unknown[]).length === 0;
    return own[name] === null || own[name] === '' || (own[name] === undefined && isAssessment(name));
  };
  return { ...control, ...Object.fromEntries(Object.entries(other).filter(([name]) => isMissing(name))) };
}

const isAssessment = (name: string) => (assessmentFields as readonly string[]).includes(name);

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
