import { oscalNamespace, stableId } from '../../base/ids.ts';
import {
  filled,
  type OscalProp,
  oneLine,
  oscalDocument,
  oscalMetadata,
  ownProp,
} from '../../http/oscal-parts.ts';
import { oscalId } from '../controls/identifier.ts';
import { catalogResource, publicationOf } from '../controls/oscal.ts';
import {
  type DirectMapping,
  type End,
  type ExportedMappings,
  pairFields,
  type StatedPair,
} from './export.ts';

/** The name of our property with a pair as its source states it: JSON of `pairFields`, relationship last. */
export const statedName = 'stated';
/** The relationship of OSCAL that relates nothing. */
export const noRelationship = 'no-relationship';

/** The crosswalk between two frameworks as an OSCAL mapping-collection: a mapping for each pair of their versions. */
export function toMappingCollection({
  from,
  to,
  changed,
  mappings,
  others,
  unmapped,
}: ExportedMappings): object {
  const pairs = Map.groupBy(mappings, (each) => JSON.stringify([each.from.version, each.to.version]));
  const written = [...pairs].map(([key, of], index) => {
    const [fromVersion, toVersion] = JSON.parse(key) as [string, string];
    const resources = [catalogResource(from, fromVersion), catalogResource(to, toVersion)] as const;
    const names = [from, fromVersion, to, toVersion];
    const gaps = unmapped.filter(({ version }) => version === fromVersion);
    const mapping = {
      uuid: stableId('oscal-mapping', ...names),
      'source-resource': { type: 'catalog', href: `#${resources[0].uuid}` },
      'target-resource': { type: 'catalog', href: `#${resources[1].uuid}` },
      ...filled('props', index === 0 ? others.map(quoted) : []),
      maps: of.map(toMap),
      ...(gaps.length === 0 ? {} : { 'source-gap-summary': gapsOf(names, gaps) }),
    };
    return { mapping, resources };
  });
  const resources = new Map(written.flatMap((each) => each.resources).map((each) => [each.uuid, each]));
  const versions = (side: 'from' | 'to') =>
    [...new Set(mappings.map((each) => publicationOf(each[side].framework, each[side].version)))].join(', ');
  return oscalDocument(
    'mapping-collection',
    {
      metadata: oscalMetadata(`${versions('from')} to ${versions('to')}`, changed ?? 'undated', changed),
      provenance: {
        method: 'hybrid',
        'matching-rationale': 'functional',
        status: 'draft',
        'mapping-description':
          'The pairs that publishers state, related by Gapstone to the imported versions. Publishers do not classify the relation: a map says that one control references the other. The property status is verified where a publisher states the pair for these versions or an operator confirmed it, else auto.',
      },
      mappings: written.map(({ mapping }) => mapping),
    },
    [...resources.values()],
  );
}

/** A pair for the import of another site. A property has no line end: JSON escapes it. */
function quoted({ relationship, ...pair }: StatedPair): OscalProp {
  const value = JSON.stringify([...pairFields.map((name) => pair[name]), relationship]);
  return { name: statedName, ns: oscalNamespace, value };
}

/** The relationships of OSCAL, each with that of the other direction. */
const reversed: Record<string, string> = {
  'equivalent-to': 'equivalent-to',
  'equal-to': 'equal-to',
  'subset-of': 'superset-of',
  'superset-of': 'subset-of',
  'intersects-with': 'intersects-with',
};

/** The relationship of OSCAL that all sources state of an edge; else ours, which claims nothing. */
function relationshipOf({ from, stated }: DirectMapping): { ns?: string; relationship: string } {
  const relationships = new Set(
    stated.map(({ fromFramework, fromIdentifier, relationship }) => {
      const isForward = fromFramework === from.framework && fromIdentifier === from.identifier;
      return isForward ? relationship : (reversed[relationship] ?? '');
    }),
  );
  const [relationship = ''] = relationships;
  return relationships.size === 1 && Object.hasOwn(reversed, relationship)
    ? { relationship }
    : { ns: oscalNamespace, relationship: 'references' };
}

const statedFor = ({ fromFramework, fromVersion, toFramework, toVersion }: StatedPair) =>
  `${`${fromFramework} ${fromVersion}`.trim()} to ${`${toFramework} ${toVersion}`.trim()}`;

function toMap(mapping: DirectMapping): object {
  const { from, to, status, stated, decision } = mapping;
  const item = ({ framework, identifier }: End) => [
    { type: 'control', 'id-ref': oscalId(framework, identifier) },
  ];
  return {
    uuid: stableId('oscal-map', from.framework, from.identifier, to.framework, to.identifier),
    ...relationshipOf(mapping),
    sources: item(from),
    targets: item(to),
    ...filled('props', [
      ...ownProp('status', status),
      ...stated.flatMap((pair) => [...ownProp('reference', pair.reference, statedFor(pair)), quoted(pair)]),
      ...(decision === null
        ? []
        : ownProp('decision', decision.status, oneLine(decision.reason) || undefined)),
    ]),
  };
}

function gapsOf(names: string[], gaps: End[]): object {
  const ids = gaps.map(({ framework, identifier }) => oscalId(framework, identifier));
  return { uuid: stableId('oscal-gaps', ...names), 'unmapped-controls': [{ 'with-ids': ids }] };
}
