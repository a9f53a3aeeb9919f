// The crosswalk read straight from the publishers' files and walked by brute force, with none of the importers' code.
import { readFileSync } from 'node:fs';
import { read80053 } from './control-oracle.ts';
import { reference } from './reference.ts';

export interface OracleEdge {
  ends: [string, string];
  status: 'auto' | 'verified' | 'rejected';
}

export interface OraclePath {
  hops: number;
  controls: { framework: string; identifier: string; status: string }[];
}

/** The active controls of a Rev 5 catalog in catalog order, and where the withdrawn ones went. */
export function readRev5(): { active: string[]; went: Map<string, string[]> } {
  const [withdrawn, active] = [true, false].map((is) => read80053(5).filter((each) => each.withdrawn === is));
  return {
    active: active!.map(({ identifier }) => identifier),
    went: new Map(withdrawn!.map(({ identifier, went }) => [identifier, went])),
  };
}

/** One CCI of the list with its references: `[version, index]`. */
export interface OracleCci {
  id: string;
  deprecated: boolean;
  references: [string, string][];
}

/** The folder of the newest CCI list, and its version. */
export const newestCcis = { folder: 'cci-2025-01-23', version: '2025-01-23' };

export function readCcis(folder = newestCcis.folder): OracleCci[] {
  const text = readFileSync(reference(folder, 'U_CCI_List.xml'), 'utf8');
  return [...text.matchAll(/<cci_item id="([^"]+)">([\s\S]*?)<\/cci_item>/g)].map((item) => ({
    id: item[1]!,
    deprecated: /<status>\s*deprecated/.test(item[2]!),
    references: [...item[2]!.matchAll(/<reference\b([^>]*)>/g)].map((match) => {
      const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(match[1]!)![1]!;
      return [attribute('version'), attribute('index')];
    }),
  }));
}

/** The controls that an index names (rule F4.2), by a reading of our own. */
export function controlsIn(index: string): string[] {
  return index.split(',').flatMap((part) => {
    const match = /^\s*([A-Z]{2})-\s*(\d+)\s*(?:\(\s*(\d+)\s*\))?/.exec(part);
    return match ? [`${match[1]}-${Number(match[2])}${match[3] ? `(${Number(match[3])})` : ''}`] : [];
  });
}

/** The edges of rule D7.1 from the reference files. */
export function readEdges(): OracleEdge[] {
  const { active, went } = readRev5();
  const isActive = new Set(active);
  const edges = new Map<string, OracleEdge>();
  const add = (a: string, b: string, status: OracleEdge['status']) => {
    const key = [a, b].sort().join(' ');
    const known = edges.get(key);
    if (!known) edges.set(key, { ends: [a, b], status });
    else if (status === 'verified') known.status = 'verified';
  };
  const followed = (control: string, seen = new Set<string>()): string[] => {
    if (isActive.has(control)) return [control];
    if (seen.has(control)) return [];
    seen.add(control);
    return (went.get(control) ?? []).flatMap((next) => followed(next, seen));
  };
  for (const cci of readCcis().filter((each) => !each.deprecated)) {
    const of = (version: string) =>
      cci.references.filter((each) => each[0] === version).flatMap((each) => controlsIn(each[1]));
    const hasRev5 = cci.references.some((each) => each[0] === '5');
    for (const control of of(hasRev5 ? '5' : '4')) {
      if (isActive.has(control))
        add(`cci:${cci.id}`, `nist-800-53:${control}`, hasRev5 ? 'verified' : 'auto');
    }
  }
  const rev3 = JSON.parse(
    readFileSync(reference('sp800-171', 'sp_800_171_3_0_0', 'framework.json'), 'utf8'),
  ) as {
    response: { elements: { relationships: Record<string, string>[] } };
  };
  for (const relation of rev3.response.elements.relationships) {
    if (relation.relationship_identifier !== 'external_reference') continue;
    for (const control of controlsIn(relation.dest_element_identifier!)) {
      add(`nist-800-171:${relation.source_element_identifier}`, `nist-800-53:${control}`, 'verified');
    }
  }
  const diacap = readFileSync(reference('dod-8500', 'DiacapToRmf.xml'), 'utf8');
  for (const iac of diacap.matchAll(/<Iac control="([^"]+)">([\s\S]*?)<\/Iac>/g)) {
    for (const row of iac[2]!.matchAll(/<NistControl revision="4">([^<]+)</g)) {
      const [control] = controlsIn(row[1]!);
      for (const target of followed(control!)) {
        add(`dod-8500:${iac[1]}`, `nist-800-53:${target}`, isActive.has(control!) ? 'verified' : 'auto');
      }
    }
  }
  const pairs = readFileSync(reference('sp800-171', 'sp800-171r2_to_sp800-53r4.csv'), 'utf8')
    .trim()
    .split(/\r?\n/)
    .slice(1);
  for (const pair of pairs) {
    const [requirement, control] = pair.split(',');
    for (const target of followed(controlsIn(control!)[0]!))
      add(`nist-800-171:${requirement}`, `nist-800-53:${target}`, 'auto');
  }
  return [...edges.values()];
}

const frameworkOrder = ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci'];

/** A key whose order is that of nodes (D7.2): frameworks in their order, then catalog order. */
export function nodeOrder(name: string, catalogOrder: Map<string, number>): string {
  const [framework, identifier] = [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)];
  const rank = String(frameworkOrder.indexOf(framework)).padStart(2, '0');
  if (framework === 'nist-800-53')
    return `${rank} ${String(catalogOrder.get(identifier) ?? 99999).padStart(6, '0')}`;
  if (framework === 'nist-800-171') {
    const numbers = identifier.split('.').map((each) => each.padStart(3, '0'));
    return `${rank} ${identifier.startsWith('0') ? 3 : 2} ${numbers.join('.')}`;
  }
  return `${rank} ${identifier}`;
}

/** A graph to walk by brute force: neighbors by name. */
export type OracleGraph = Map<string, { name: string; status: string }[]>;

export function toGraph(edges: OracleEdge[]): OracleGraph {
  const graph: OracleGraph = new Map();
  for (const { ends, status } of edges) {
    for (const [from, to] of [ends, [ends[1], ends[0]] as [string, string]]) {
      if (!graph.has(from)) graph.set(from, []);
      graph.get(from)!.push({ name: to, status });
    }
  }
  return graph;
}

/** Every simple path of up to `maxHops` edges of admitted statuses from a node to the first node of a framework. */
export function bruteForce(
  graph: OracleGraph,
  source: string,
  target: string,
  maxHops: number,
  admitted: Set<string>,
  order: (name: string) => string,
): OraclePath[] {
  const found: { name: string; status: string }[][] = [];
  const walk = (path: { name: string; status: string }[]) => {
    const here = path.at(-1)?.name ?? source;
    if (path.length === maxHops) return;
    for (const next of graph.get(here) ?? []) {
      if (!admitted.has(next.status) || next.name === source || path.some((each) => each.name === next.name))
        continue;
      const longer = [...path, next];
      if (next.name.startsWith(`${target}:`)) found.push(longer);
      // A framework of a site stands at the ends of a path alone (rule D40.2).
      else if (/^(nist-800-53|nist-800-171|dod-8500|cci):/.test(next.name)) walk(longer);
    }
  };
  walk([]);
  const keyed = found.map((path) => ({
    path,
    key: `${path.length} ${path.map((each) => order(each.name)).join(' | ')}`,
  }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  const split = ({ name, status }: { name: string; status: string }) => {
    const colon = name.indexOf(':');
    return { framework: name.slice(0, colon), identifier: name.slice(colon + 1), status };
  };
  return keyed.map(({ path }) => ({
    hops: path.length,
    controls: [split({ name: source, status: 'auto' }), ...path.map(split)],
  }));
}
