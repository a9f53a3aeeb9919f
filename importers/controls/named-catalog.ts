import { compareFrameworks, compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier, oscalId } from '../../src/catalog/controls/identifier.ts';
import { ownNames } from '../../src/catalog/controls/oscal.ts';
import type { Database } from '../../src/db/database.ts';
import { withoutParts } from './catalog.ts';
import type { ControlRecord, NamedCatalog } from './control-record.ts';
import type { MergedCatalog } from './merge.ts';
import { ownPropOf } from './oscal-document.ts';
import { hyphenated, titleAndVersion } from './oscal-publication.ts';
import type { OscalResource } from './oscal-shape.ts';

/** NIST's catalogs by their names in titles and addresses, and the revision after the name. */
const published: [framework: string, name: RegExp, revision: RegExp][] = [
  ['nist-800-53', /800-53(?![0-9a])/i, /800-53\D{0,20}?r(?:ev(?:ision)?)?[ ._-]?([45])(?!\d)/i],
  ['nist-800-171', /800-171(?![0-9a])/i, /800-171\D{0,20}?r(?:ev(?:ision)?)?[ ._-]?([23])(?!\d)/i],
];

const resourceOf = (href: string, resources: OscalResource[]) =>
  resources.find(({ uuid }) => uuid !== '' && href === `#${uuid}`);

/** The title and the addresses of what a document refers to by an address, `#` and the id of a resource or another. */
export function namesOf(href: string, resources: OscalResource[]): string[] {
  const { title = '', rlinks = [] } = resourceOf(href, resources) ?? {};
  return [title, ...rlinks.map((link) => link.href), href].filter((name) => name !== '');
}

/** The catalog that a document refers to by an address. */
export function namedCatalog(href: string, resources: OscalResource[]): NamedCatalog {
  const { title = '', props = [] } = resourceOf(href, resources) ?? {};
  const own = ownPropOf(props, ownNames.framework);
  if (own !== undefined) return { framework: own, version: ownPropOf(props, ownNames.version) ?? '' };
  const names = namesOf(href, resources);
  for (const text of names)
    for (const [framework, name, revision] of published) {
      if (!name.test(text)) continue;
      const number = revision.exec(text)?.[1];
      return { framework, version: number === undefined ? '' : `Rev ${number}` };
    }
  const { stem, number } = titleAndVersion(title);
  const addresses = title === '' ? names : names.slice(1);
  const files = addresses.map(fileStem).filter((each) => each !== '');
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

/** Finds the catalogs and controls that OSCAL documents name. */
export type CatalogFinder = ReturnType<typeof createCatalogFinder>;

/** Makes the finder over some catalogs, which it indexes when first needed. */
export function createCatalogFinder({ sqlite }: Database, catalogs: MergedCatalog[]) {
  const indexes = new Map<MergedCatalog, Map<string, ControlRecord>>();
  let files: Map<number, string> | undefined;
  const fileOf = (sourceId: number) => {
    files ??= new Map(
      sqlite
        .prepare<[], [number, string]>('SELECT id, source FROM sources')
        .raw()
        .all()
        .map(([id, source]) => [id, fileStem(source)]),
    );
    return files.get(sourceId) ?? '';
  };

  /** The controls of a catalog by what documents call them, in lower case. */
  function indexOf(catalog: MergedCatalog): Map<string, ControlRecord> {
    const { framework, controls } = catalog;
    const known = indexes.get(catalog);
    if (known) return known;
    const index = new Map<string, ControlRecord>();
    for (const control of controls)
      for (const name of [control.identifier, oscalId(framework, control.identifier), control.oscalId ?? ''])
        if (name !== '') index.set(name.toLowerCase(), control);
    indexes.set(catalog, index);
    return index;
  }

  /** Whether a document names a catalog, by its framework or by the name of its file. */
  function isNamed({ framework, ranked }: MergedCatalog, named: NamedCatalog): boolean {
    return (
      framework === named.framework ||
      (named.files !== undefined && ranked.some(({ sourceId }) => named.files!.includes(fileOf(sourceId))))
    );
  }

  /** The control with an id, or with the id of a part of it: `ac-2_smt.a` is of AC-2. Some documents write `#ac-2`. */
  function controlIn(catalog: MergedCatalog, id: string): ControlRecord | undefined {
    const index = indexOf(catalog);
    return withoutParts(id.toLowerCase().replace(/^#/, ''))
      .flatMap((text) => [text, canonicalIdentifier(catalog.framework, text)?.toLowerCase() ?? ''])
      .map((text) => index.get(text))
      .find((control) => control !== undefined);
  }

  /** The catalog of some ids: the one that the document names, if it has any of them, else the one that has most. */
  function find(ids: string[], named: NamedCatalog): FoundCatalog | null {
    const isVersion = ({ framework, version }: MergedCatalog) =>
      versionKey(framework, version) === versionKey(framework, named.version);
    const [best] = catalogs
      .map((catalog) => ({ catalog, found: ids.filter((id) => controlIn(catalog, id)).length }))
      .filter(({ found }) => found > 0)
      .sort(
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
      identifierOf: (id) => controlIn(best.catalog, id)?.identifier ?? id,
    };
  }

  return {
    find,
    isNamed,
    /** The controls with an id, of every catalog. */
    controlsWith: (id: string) =>
      catalogs.map((catalog) => controlIn(catalog, id)).filter((control) => control !== undefined),
    /** The controls that have a name of which `matches` is true. */
    controlsNamed: (matches: (name: string) => boolean) =>
      catalogs.flatMap((catalog) =>
        [...indexOf(catalog)].filter(([name]) => matches(name)).map(([, control]) => control),
      ),
  };
}
