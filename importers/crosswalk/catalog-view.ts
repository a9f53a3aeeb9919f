import { compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import type { ControlRecord } from '../controls/control-record.ts';
import type { MergedCatalog } from '../controls/merge.ts';

/** The catalogs as the derivation of edges reads them. */
export interface CatalogView {
  has(framework: string): boolean;
  /** The status in the newest version of the framework (800-171: the newest one that names the control). */
  status(framework: string, identifier: string): 'active' | 'withdrawn' | 'unknown';
  /** Whether a newer version is imported. Always false for NIST's catalogs: their revisions all count. */
  isOutdated(framework: string, version: string): boolean;
  hasVersion(framework: string, version: string): boolean;
  withdrawnInto(framework: string, identifier: string): string[];
}

/** A control that the newest version lacks counts as withdrawn; in 800-171, revisions have different controls. */
export function catalogView(catalogs: MergedCatalog[]): CatalogView {
  interface Seen {
    controls: Map<string, ControlRecord>;
    /** The controls of the newest version; of 800-171, those of all. */
    newest: Set<string>;
    versions: string[];
  }
  const frameworks = new Map<string, Seen>();
  for (const { framework, version, controls } of [...catalogs].sort((a, b) =>
    compareVersions(a.version, b.version),
  )) {
    const entry: Seen = frameworks.get(framework) ?? { controls: new Map(), newest: new Set(), versions: [] };
    frameworks.set(framework, entry);
    entry.versions.push(version);
    if (framework !== 'nist-800-171') entry.newest = new Set();
    for (const control of controls) {
      entry.controls.set(control.identifier, control);
      entry.newest.add(control.identifier);
    }
  }
  return {
    has: (framework) => frameworks.has(framework),
    status(framework, identifier) {
      const entry = frameworks.get(framework);
      const control = entry?.controls.get(identifier);
      if (!entry || !control) return 'unknown';
      return entry.newest.has(identifier) ? control.status : 'withdrawn';
    },
    isOutdated(framework, version) {
      const versions = frameworks.get(framework)?.versions ?? [];
      return !framework.startsWith('nist-') && versions.includes(version) && version !== versions.at(-1);
    },
    hasVersion: (framework, version) =>
      (frameworks.get(framework)?.versions ?? []).some(
        (each) => versionKey(framework, each) === versionKey(framework, version),
      ),
    withdrawnInto: (framework, identifier) =>
      frameworks.get(framework)?.controls.get(identifier)?.withdrawnInto ?? [],
  };
}
