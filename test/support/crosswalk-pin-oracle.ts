// What a version pin admits (rule D7.4), read straight from the publishers' files like the oracle it adds to.
import { order80053, read80053 } from './control-oracle.ts';
import { nodeOrder, type OracleGraph, readCcis, readStatements } from './crosswalk-oracle.ts';

const newestList = '2025-01-23';

export interface PinOracle {
  /** The first edges of a source under a pin: revision numbers of the NIST frameworks, editions of the CCI list. */
  firstEdges(source: string, version: string): { name: string; status: string }[];
  /** The graph as it is walked from a source whose first edges are given. */
  pinned(source: string, version: string): OracleGraph;
  order(name: string): string;
  /** Every control that a catalog names, active or withdrawn. */
  known: Set<string>;
  rev4: string[];
}

/** Reads the files once; `graph` is the unpinned graph. */
export function readPins(graph: OracleGraph): PinOracle {
  const statements = readStatements();
  const rev4 = read80053(4).map((each) => each.identifier);
  const rev5 = read80053(5).map((each) => each.identifier);
  const all = [...new Set([...rev4, ...rev5])].sort((a, b) => (order80053(a) < order80053(b) ? -1 : 1));
  const catalogOrder = new Map(all.map((identifier, index) => [identifier, index]));
  const known = new Set(all.map((identifier) => `nist-800-53:${identifier}`));
  for (const name of graph.keys()) known.add(name);
  for (const cci of readCcis()) known.add(`cci:${cci.id}`);

  function firstEdges(source: string, version: string): { name: string; status: string }[] {
    const unpinned = graph.get(source) ?? [];
    // Requirements, IA controls and the newest CCI list have but one revision: all their edges are stated for it.
    if (!source.startsWith('nist-800-53:') && !['2022-03-09', '2016-06-27'].includes(version)) {
      const stated = statements.some((each) => each.from === source && each.fromVersion === version);
      return stated ? unpinned : [];
    }
    const neighbors = new Set<string>();
    for (const { from, fromVersion, to, toVersion } of statements) {
      // An older list speaks only of its own CCIs, never of the controls; and no list of the controls of Rev 3.
      if (from === source && fromVersion === version && toVersion !== '3') neighbors.add(to);
      const counts = !from.startsWith('cci:') || fromVersion === newestList;
      if (to === source && toVersion === version && counts) neighbors.add(from);
    }
    const isNewest = source.startsWith('nist-800-53:') && version === '5';
    return [...neighbors].flatMap((name) => {
      const edge = unpinned.find((each) => each.name === name);
      if (edge) return [edge];
      return isNewest || !known.has(name) ? [] : [{ name, status: 'auto' }];
    });
  }

  return {
    firstEdges,
    known,
    rev4,
    order: (name) => nodeOrder(name, catalogOrder),
    pinned: (source, version) => new Map(graph).set(source, firstEdges(source, version)),
  };
}
