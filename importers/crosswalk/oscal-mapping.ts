import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { noRelationship, statedName } from '../../src/catalog/crosswalk/export.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { ControlsResult } from '../controls/catalog.ts';
import type { MappingPair, MappingRecord, NamedCatalog } from '../controls/control-record.ts';
import { namedCatalog } from '../controls/oscal-ids.ts';
import { readMarkupOf } from '../controls/oscal-markup.ts';
import { ownPropOf } from '../controls/oscal-objectives.ts';
import { editionOf } from '../controls/oscal-publication.ts';
import { type OscalMapping, oscalShapes } from '../controls/oscal-shape.ts';
import { unreadIn } from '../controls/oscal-unread.ts';
import { countAt, readShape } from '../read/json-shape.ts';
import { excerpt } from '../read/source-text.ts';

const kind = 'oscal-mapping';
/** What a source of mappings may state: one answer exports all pairs of two frameworks. */
export const mostPairs = 50_000;

/** True for a JSON value with the shape of an OSCAL mapping-collection. */
export function isOscalMapping(value: unknown): boolean {
  return typeof (value as { 'mapping-collection'?: unknown } | null)?.['mapping-collection'] === 'object';
}

/** A pair with the version of the framework on its left. */
interface StatedPair extends MappingPair {
  fromFramework: string;
  fromVersion: string;
}

/**
 * Reads an OSCAL mapping-collection in JSON: a pair for each source and target of each map, with its relationship and
 * references (rule D40.2). The import finds the frameworks that have the ids. Of our own exports it takes the pairs that
 * they quote. Throws `ImportError` for a broken collection, and for one without pairs or with too many.
 */
export function parseOscalMapping(value: unknown): ControlsResult {
  // The bound comes before the shape.
  if (pairsIn(value) > mostPairs) throw new ImportError(`more than ${mostPairs} pairs`, kind);
  const {
    metadata,
    mappings,
    'back-matter': matter,
  } = readShape(oscalShapes(readMarkupOf(value)).mappingCollection, value, kind)['mapping-collection'];
  const maps = mappings.flatMap((mapping) => mapping.maps);
  const pairs = new Map<string, StatedPair>();
  for (const [index, mapping] of mappings.entries()) {
    const catalogs = [mapping['source-resource'], mapping['target-resource']].map(({ href }) =>
      namedCatalog(href, matter?.resources ?? []),
    ) as [NamedCatalog, NamedCatalog];
    const own = mappings.length === 1 ? {} : { mapping: index };
    const stated = [
      ...quotedIn(mapping.props),
      ...mapping.maps.flatMap((map, at) =>
        pairsOf(map, catalogs, `map ${at + 1} of mapping ${index + 1}`).map((pair) =>
          pair.isOscal ? { ...pair, ...own } : pair,
        ),
      ),
    ];
    for (const pair of stated) pairs.set(JSON.stringify(pair), pair);
  }
  if (pairs.size === 0) throw new ImportError('the mapping-collection relates no controls', kind);
  const edition = editionOf(metadata, kind);
  const records = [
    ...Map.groupBy(pairs.values(), ({ fromFramework, fromVersion }) =>
      JSON.stringify([fromFramework, fromVersion]),
    ).values(),
  ].map((of): MappingRecord => {
    const { fromFramework, fromVersion } = of[0]!;
    return { type: 'mapping', fromFramework, fromVersion, edition, pairs: of.map(withoutVersion) };
  });
  const unrelated = maps.filter(isUnrelated).length;
  const warnings = unreadIn(value);
  if (unrelated > 0) warnings.push(`${unrelated} maps state that there is no relationship`);
  return { kind, records, warnings };
}

/** How many pairs a collection states, at most. */
function pairsIn(value: unknown): number {
  const mappings = (value as { 'mapping-collection': { mappings?: unknown } })['mapping-collection'].mappings;
  return (Array.isArray(mappings) ? mappings : [mappings]).reduce((sum: number, each) => {
    const maps: unknown = each?.maps;
    // Our exports quote pairs in properties of the mapping too.
    return (
      sum +
      countAt(each, ['props']) +
      (Array.isArray(maps) ? maps : []).reduce((pairs: number, map) => {
        const [sources, targets, props] = ['sources', 'targets', 'props'].map((name) => countAt(map, [name]));
        return pairs + sources! * targets! * Math.max(1, props!);
      }, 0)
    );
  }, 0);
}

const withoutVersion = ({ fromFramework: _, fromVersion: __, ...pair }: StatedPair): MappingPair => pair;

type OscalMap = OscalMapping['maps'][number];

const isUnrelated = ({ relationship }: OscalMap) => relationship === noRelationship;

/** The pairs of a map; of ours those that it quotes, and its own with an operator's word. */
function pairsOf(map: OscalMap, [from, to]: [NamedCatalog, NamedCatalog], place: string): StatedPair[] {
  if (isUnrelated(map)) return [];
  const quoted = quotedIn(map.props);
  const isVerified = ownPropOf(map.props, 'decision') === 'verified';
  if (quoted.length > 0 && !isVerified) return quoted;
  const named = map.props.filter(({ name }) => name === 'reference').map(({ value }) => value);
  const references = named.length > 0 ? named : [excerpt(map.remarks, 300) || place];
  const own = map.sources.flatMap(({ 'id-ref': source }) =>
    map.targets.flatMap(({ 'id-ref': target }) =>
      references.map((reference): StatedPair => {
        return {
          ...{ fromFramework: from.framework, fromVersion: from.version, fromIdentifier: source },
          ...{ toFramework: to.framework, toVersion: to.version, toIdentifier: target },
          ...{ reference, relationship: map.relationship, isOscal: true, isVerified },
          ...(from.files || to.files ? { files: [from.files ?? [], to.files ?? []] } : {}),
        };
      }),
    ),
  );
  return [...quoted, ...own];
}

/** The pairs as publishers stated them, which our exports quote as JSON. Throws for one that is not of its frameworks. */
function quotedIn(props: OscalMap['props']): StatedPair[] {
  return props.flatMap((prop) => {
    const text = ownPropOf([prop], statedName);
    if (text === undefined) return [];
    const [fromFramework, fromVersion, from, toFramework, toVersion, to, reference, relationship] =
      textsIn(text);
    const fromIdentifier = canonicalIdentifier(fromFramework!, from!);
    const toIdentifier = canonicalIdentifier(toFramework!, to!);
    if (fromIdentifier === null || toIdentifier === null)
      throw new ImportError(`the quoted pair ${excerpt(text, 200)} does not name controls`, kind);
    return {
      ...{ fromFramework: fromFramework!, fromVersion: fromVersion!, fromIdentifier },
      ...{ toFramework: toFramework!, toVersion: toVersion!, toIdentifier },
      ...{ reference: reference!, relationship: relationship!, isOscal: false, isVerified: false },
    };
  });
}

function textsIn(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.length === 8 && value.every((each) => typeof each === 'string'))
      return value;
  } catch {
    // As for any other value.
  }
  throw new ImportError(`the quoted pair ${excerpt(text, 200)} is not a list of 8 texts`, kind);
}
