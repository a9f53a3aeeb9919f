import type { MappingPair, MappingRecord } from '../controls/control-record.ts';

/** What a source of mappings may state: one answer exports all pairs of two frameworks. */
export const mostPairs = 50_000;

/** A pair with the framework and version on its left. */
export interface StatedPair extends MappingPair {
  fromFramework: string;
  fromVersion: string;
}

/** The records of some pairs: one for each framework and version on the left. */
export function mappingRecords(pairs: StatedPair[], edition = ''): MappingRecord[] {
  const byLeft = Map.groupBy(pairs, ({ fromFramework, fromVersion }) =>
    JSON.stringify([fromFramework, fromVersion]),
  );
  return [...byLeft.values()].map((group) => {
    const { fromFramework, fromVersion } = group[0]!;
    const ownPairs = group.map(({ fromFramework: _, fromVersion: __, ...pair }): MappingPair => pair);
    return { type: 'mapping', fromFramework, fromVersion, edition, pairs: ownPairs };
  });
}
