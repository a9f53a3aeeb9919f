import { compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import type { ControlRecord } from '../controls/control-record.ts';
import type { MergedCatalog } from '../controls/merge.ts';

/** What the derivation must know of the catalogs. */
export interface CatalogView {
  /** True when some version of the framework is imported. */
  has(framework: string): boolean;
  /** `active` in the version of the framework that is newest (800-171: in its own), `withdrawn`, or unknown. */
  status(framework: string, identifier: string): 'active' | 'withdrawn' | 'unknown';
  /**
   * Whether a newer edition of what a framework publishes is imported: of the CCI list only the newest counts. What
   * is stated for a revision of the NIST catalogs counts whatever newer one there is.
   */
  isOutdated(framework: string, version: string): boolean;
  /** Whether a version of the framework that means the same is imported. */
  hasVersion(framework: string, version: string): boolean;
  /** The identifiers that a withdrawn control went into. */
  withdrawnInto(framework: string, identifier: string): string[];
}

/**
 * The catalogs as the crosswalk sees them: a control has the status of the newest version that names it, but one that
 * the newest version of its framework no longer names is withdrawn. The revisions of 800-171 name different controls.
 */
export function catalogView(catalogs: MergedCatalog[]): CatalogView {
  interface Seen {
    controls: Map<string, ControlRecord>;
    /** What the newest version names; of 800-171, what any does. */
    newest: Set<string>;
    /** Oldest first. */
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
