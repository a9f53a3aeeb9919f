import { frameworks } from './frameworks.ts';
import type { ControlService } from './queries.ts';

/** A catalog with the version that is served, how many controls that has, and the other versions that are loaded. */
export interface LoadedCatalog {
  framework: string;
  version: string;
  total: number;
  otherVersions: string[];
}

/** The catalogs that are loaded, with how many controls each has. */
export function loadedCatalogs(controls: ControlService): LoadedCatalog[] {
  return frameworks.map((framework) => {
    const { total } = JSON.parse(controls.list(framework, { words: [], limit: 1 })) as { total: number };
    const versions = controls.versions(framework);
    const labels = (isServed: boolean) =>
      versions.filter((each) => each.isServed === isServed).map(({ label }) => label);
    return { framework, version: labels(true).join(), otherVersions: labels(false), total };
  });
}
