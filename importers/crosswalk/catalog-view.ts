import { compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
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
  const sorted = catalogs.toSorted((a, b) => compareVersions(a.version, b.version));
  const frameworks = new Map(
    [...Map.groupBy(sorted, ({ framework }) => framework)].map(([framework, releases]) => {
      const controls = new Map(
        releases.flatMap((each) => each.controls.map((one) => [one.identifier, one] as const)),
      );
      const newest = new Set(releases.at(-1)!.controls.map(({ identifier }) => identifier));
      const isCurrent = (identifier: string) => framework === 'nist-800-171' || newest.has(identifier);
      return [framework, { controls, isCurrent, versions: releases.map(({ version }) => version) }] as const;
    }),
  );
  const controlOf = (framework: string, identifier: string) =>
    frameworks.get(framework)?.controls.get(identifier);
  const versionsOf = (framework: string) => frameworks.get(framework)?.versions ?? [];
  return {
    has: (framework) => frameworks.has(framework),
    status(framework, identifier) {
      const control = controlOf(framework, identifier);
      if (control === undefined) return 'unknown';
      return frameworks.get(framework)!.isCurrent(identifier) ? control.status : 'withdrawn';
    },
    isOutdated(framework, version) {
      const versions = versionsOf(framework);
      return !framework.startsWith('nist-') && versions.includes(version) && version !== versions.at(-1);
    },
    hasVersion: (framework, version) =>
      versionsOf(framework).some((each) => versionKey(framework, each) === versionKey(framework, version)),
    withdrawnInto: (framework, identifier) => controlOf(framework, identifier)?.withdrawnInto ?? [],
  };
}
