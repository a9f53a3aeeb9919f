import { compareFrameworks, compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier, oscalId } from '../../src/catalog/controls/identifier.ts';
import { ownNames } from '../../src/catalog/controls/oscal.ts';
import type { Database } from '../../src/db/database.ts';
import type { NamedCatalog } from './control-record.ts';
import type { MergedCatalog } from './merge.ts';
import { ownPropOf } from './oscal-objectives.ts';
import { hyphenated, titleAndVersion } from './oscal-publication.ts';
import type { OscalResource } from './oscal-shape.ts';

/** The published catalogs by their names in titles and addresses, and the revision of NIST's after the name. */
const published: [framework: string, name: RegExp, revision?: RegExp][] = [
  ['nist-800-53', /800-53(?![0-9a])/i, /800-53\D{0,20}?r(?:ev(?:ision)?)?[ ._-]?([45])(?!\d)/i],
  ['nist-800-171', /800-171(?![0-9a])/i, /800-171\D{0,20}?r(?:ev(?:ision)?)?[ ._-]?([23])(?!\d)/i],
  ['dod-8500', /\b8500\.2\b/],
  ['cci', /\bcontrol correlation identifiers?\b|\bcci list\b/i],
];

/** The catalog that a document refers to by an address, `#` and the id of a resource or another. */
export function namedCatalog(href: string, resources: OscalResource[]): NamedCatalog {
  const resource = resources.find(({ uuid }) => uuid !== '' && href === `#${uuid}`);
  const own = ownPropOf(resource?.props ?? [], ownNames.framework);
  if (own !== undefined)
    return { framework: own, version: ownPropOf(resource!.props, ownNames.version) ?? '' };
  const title = resource?.title ?? '';
  for (const text of [title, ...(resource?.rlinks ?? []).map((link) => link.href), href])
    for (const [framework, name, revision] of published) {
      if (!name.test(text)) continue;
      const number = revision?.exec(text)?.[1];
      return { framework, version: number === undefined ? '' : `Rev ${number}` };
    }
  const { stem, number } = titleAndVersion(title);
  const files = [...(resource?.rlinks ?? []).map((link) => link.href), href]
    .map(fileStem)
    .filter((each) => each !== '');
  return { framework: hyphenated(stem), version: number, ...(files.length === 0 ? {} : { files }) };
}

/** The name of the file of an address or source, in lower case, without its ending; `""` for a fragment. */
export function fileStem(address: string): string {
  const name = /([^/\\#?]+)(?:[#?].*)?$/.exec(address.slice(-500))?.[1] ?? '';
  return address.startsWith('#') ? '' : name.toLowerCase().replace(/(?:\.(?:json|xml|gz|min))+$/, '');
}

/** A catalog that has controls with some ids. */
interface FoundCatalog {
  framework: string;
  version: string;
  /** The control with an id; the id itself for none. */
  identifierOf(id: string): string;
}

export type FindCatalog = ReturnType<typeof createFindCatalog>;

/**
 * Gives a function that finds the catalog that some ids of an OSCAL document are of: the one that the document names, if
 * it has any of them, else the one that has most. Null where none has any. Catalogs are indexed when first needed.
 */
export function createFindCatalog({ sqlite }: Database, catalogs: MergedCatalog[]) {
  const indexed = new Map<MergedCatalog, Map<string, string>>();
  const indexOf = (catalog: MergedCatalog) => {
    const known = indexed.get(catalog) ?? idsOf(catalog);
    indexed.set(catalog, known);
    return known;
  };
  const sources = sqlite.prepare<[], [number, string]>('SELECT id, source FROM sources').raw();
  let files: Map<number, string> | undefined;
  /** Whether a document names a catalog, by its framework or by the name of its file. */
  const isNamed = ({ framework, ranked }: MergedCatalog, named: NamedCatalog): boolean => {
    if (framework === named.framework) return true;
    if (named.files === undefined) return false;
    files ??= new Map(sources.all().map(([id, source]) => [id, fileStem(source)]));
    return ranked.some(({ sourceId }) => named.files!.includes(files!.get(sourceId) ?? ''));
  };
  const controlIn = (catalog: MergedCatalog, id: string) =>
    controlWith(id, catalog.framework, indexOf(catalog));
  const find = (ids: string[], named: NamedCatalog): FoundCatalog | null => {
    const rated = catalogs.flatMap((catalog) => {
      const found = ids.filter((id) => controlIn(catalog, id) !== null).length;
      return found === 0 ? [] : [{ catalog, found }];
    });
    const isVersion = ({ framework, version }: MergedCatalog) =>
      versionKey(framework, version) === versionKey(framework, named.version);
    const [best] = rated.sort(
      (a, b) =>
        Number(isNamed(b.catalog, named)) - Number(isNamed(a.catalog, named)) ||
        Number(isVersion(b.catalog)) - Number(isVersion(a.catalog)) ||
        b.found - a.found ||
        compareFrameworks(a.catalog.framework, b.catalog.framework) ||
        compareVersions(b.catalog.version, a.catalog.version),
    );
    if (best === undefined) return null;
    const { framework, version } = best.catalog;
    const isStated = named.version !== '' && (framework === named.framework || isVersion(best.catalog));
    return {
      framework,
      version: isStated ? named.version : version,
      identifierOf: (id) => controlIn(best.catalog, id) ?? id,
    };
  };
  return Object.assign(find, { isNamed, controlIn });
}

/** The controls of a catalog by the ids that documents may have of them, in lower case. */
function idsOf({ framework, controls }: MergedCatalog): Map<string, string> {
  const spellings = controls.flatMap(({ identifier, oscalId: id = oscalId(framework, identifier) }) =>
    [identifier, oscalId(framework, identifier), id].map((text) => [text.toLowerCase(), identifier] as const),
  );
  return new Map(spellings);
}

/** The control with an id, or with the id of a part of it: `ac-2_smt.a` is of AC-2. Some documents write `#ac-2`. */
function controlWith(id: string, framework: string, index: Map<string, string>): string | null {
  for (const text of withoutParts(id.toLowerCase().replace(/^#/, ''))) {
    const found = index.get(text) ?? index.get(canonicalIdentifier(framework, text)?.toLowerCase() ?? '');
    if (found !== undefined) return found;
  }
  return null;
}

/** An id, and what it begins with before the last two of its `_`. */
export function withoutParts(id: string): string[] {
  const once = id.slice(0, Math.max(0, id.lastIndexOf('_')));
  return [id, once, once.slice(0, Math.max(0, once.lastIndexOf('_')))];
}
