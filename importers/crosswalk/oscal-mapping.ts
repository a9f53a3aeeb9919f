import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { noRelationship, pairFields, statedName } from '../../src/catalog/crosswalk/export.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { type ControlsResult, withKind } from '../controls/catalog.ts';
import { type MappingPair, mostPairs, type NamedCatalog } from '../controls/control-record.ts';
import { namedCatalog } from '../controls/named-catalog.ts';
import { ownPropOf, ownPropsOf, readOscal } from '../controls/oscal-document.ts';
import { editionOf } from '../controls/oscal-publication.ts';
import { type OscalMapping, oscalMappings } from '../controls/oscal-shape.ts';
import { excerpt } from '../read/source-text.ts';

const kind = 'oscal-mapping';

type OscalMap = OscalMapping['maps'][number];

/**
 * Reads an OSCAL mapping-collection: a pair for each source and target of each map, with its relationship and references
 * (rule D40.2). The import finds the frameworks that have the ids. Of our own exports it takes the pairs that they quote.
 * Throws `ImportError` for a broken collection, and for one without pairs or with too many.
 */
export function parseOscalMapping(value: unknown): ControlsResult {
  return withKind(kind, () => {
    const { document, unread } = readOscal(oscalMappings, value, kind);
    const { metadata, mappings, 'back-matter': matter } = document['mapping-collection'];
    const count = mappings.reduce((sum, mapping) => sum + mostPairsOf(mapping), 0);
    if (count > mostPairs) throw new ImportError(`more than ${mostPairs} pairs`);
    const stated = mappings.flatMap((mapping, index) => {
      const [from, to] = [mapping['source-resource'], mapping['target-resource']].map(({ href }) =>
        namedCatalog(href, matter.resources),
      ) as [NamedCatalog, NamedCatalog];
      const number = mappings.length === 1 ? undefined : index;
      const pairs = mapping.maps.flatMap((map, at) =>
        pairsOf(map, from, to, `map ${at + 1} of mapping ${index + 1}`),
      );
      return [
        ...quotedIn(mapping.props),
        ...pairs.map((pair) => (pair.isOscal ? { ...pair, mapping: number } : pair)),
      ];
    });
    if (stated.length === 0) throw new ImportError('the mapping-collection relates no controls');
    const pairs = new Map(stated.map((pair) => [JSON.stringify(pair), pair]));
    const unrelated = mappings.flatMap(({ maps }) => maps).filter(isUnrelated).length;
    const warnings =
      unrelated === 0 ? unread : [...unread, `${unrelated} maps state that there is no relationship`];
    const record = { type: 'mapping' as const, edition: editionOf(metadata), pairs: [...pairs.values()] };
    return { kind, records: [record], warnings };
  });
}

/** How many pairs a mapping states, at most. Our exports quote pairs in its properties too. */
function mostPairsOf({ props, maps }: OscalMapping): number {
  const ofMaps = maps.map((map) => map.sources.length * map.targets.length * Math.max(1, map.props.length));
  return ofMaps.reduce((sum, each) => sum + each, props.length);
}

const isUnrelated = ({ relationship }: OscalMap) => relationship === noRelationship;

/** The pairs of a map; of a map of ours those that it quotes, and its own where an operator verified it. */
function pairsOf(map: OscalMap, from: NamedCatalog, to: NamedCatalog, place: string): MappingPair[] {
  if (isUnrelated(map)) return [];
  const quoted = quotedIn(map.props);
  const isVerified = ownPropOf(map.props, 'decision') === 'verified';
  if (quoted.length > 0 && !isVerified) return quoted;
  const named = map.props.filter(({ name }) => name === 'reference').map(({ value }) => value);
  const references = named.length > 0 ? named : [excerpt(map.remarks, 300) || place];
  const own = map.sources.flatMap(({ 'id-ref': source }) =>
    map.targets.flatMap(({ 'id-ref': target }) =>
      references.map((reference): MappingPair => {
        return {
          fromFramework: from.framework,
          fromVersion: from.version,
          fromIdentifier: source,
          toFramework: to.framework,
          toVersion: to.version,
          toIdentifier: target,
          reference,
          relationship: map.relationship,
          isOscal: true,
          isVerified,
          files: from.files || to.files ? [from.files ?? [], to.files ?? []] : undefined,
        };
      }),
    ),
  );
  return [...quoted, ...own];
}

const quotedFields = [...pairFields, 'relationship'] as const;

/** The pairs as publishers stated them, which our exports quote as JSON. Throws for one that is not of its frameworks. */
function quotedIn(props: OscalMap['props']): MappingPair[] {
  return ownPropsOf(props, statedName).map((text) => {
    const texts = textsIn(text);
    const pair = Object.fromEntries(quotedFields.map((field, index) => [field, texts[index]])) as Record<
      (typeof quotedFields)[number],
      string
    >;
    const fromIdentifier = canonicalIdentifier(pair.fromFramework, pair.fromIdentifier);
    const toIdentifier = canonicalIdentifier(pair.toFramework, pair.toIdentifier);
    if (fromIdentifier === null || toIdentifier === null)
      throw new ImportError(`the quoted pair ${excerpt(text, 200)} does not name controls`);
    return { ...pair, fromIdentifier, toIdentifier };
  });
}

function textsIn(text: string): string[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.length === 8 && value.every((each) => typeof each === 'string'))
      return value;
  } catch {
    // Not JSON: refused below.
  }
  throw new ImportError(`the quoted pair ${excerpt(text, 200)} is not a list of 8 texts`);
}
