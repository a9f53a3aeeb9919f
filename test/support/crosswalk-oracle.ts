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
  const controls = read80053(5);
  return {
    active: controls.filter(({ withdrawn }) => !withdrawn).map(({ identifier }) => identifier),
    went: new Map(controls.map(({ identifier, went }) => [identifier, went])),
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

/** A stated pair: two controls, each with the revision it is stated for. */
interface Statement {
  from: string;
  fromVersion: string;
  to: string;
  toVersion: string;
}

const cciLists = { '2025-01-23': 'cci-2025-01-23', '2022-03-09': 'cci', '2016-06-27': 'cci/2016-06-27' };

/** What the reference files state, file by file. */
export function readStatements(): Statement[] {
  const statements: Statement[] = [];
  const add = (from: string, fromVersion: string, controls: string[], toVersion: string) => {
    for (const control of controls)
      statements.push({ from, fromVersion, to: `nist-800-53:${control}`, toVersion });
  };
  for (const [edition, folder] of Object.entries(cciLists))
    for (const { id, deprecated, references } of readCcis(folder))
      for (const [version, index] of deprecated ? [] : references)
        if (['3', '4', '5'].includes(version)) add(`cci:${id}`, edition, controlsIn(index), version);
  const diacap = readFileSync(reference('dod-8500', 'DiacapToRmf.xml'), 'utf8');
  for (const [, iac, body] of diacap.matchAll(/<Iac control="([^"]+)">([\s\S]*?)<\/Iac>/g))
    for (const [, version, control] of body!.matchAll(/<NistControl revision="([34])">([^<]+)</g))
      add(`dod-8500:${iac}`, 'DoDI 8500.2 (2003)', controlsIn(control!), version!);
  const pairs = readFileSync(reference('sp800-171', 'sp800-171r2_to_sp800-53r4.csv'), 'utf8').trim();
  for (const [requirement, control] of pairs.split(/\r?\n/).map((row) => row.split(',')))
    add(`nist-800-171:${requirement}`, '2', controlsIn(control!).slice(0, 1), '4');
  const { relationships } = JSON.parse(
    readFileSync(reference('sp800-171', 'sp_800_171_3_0_0', 'framework.json'), 'utf8'),
  ).response.elements as { relationships: Record<string, string>[] };
  for (const each of relationships.filter((one) => one.relationship_identifier === 'external_reference'))
    add(
      `nist-800-171:${each.source_element_identifier}`,
      '3',
      controlsIn(each.dest_element_identifier!),
      '5',
    );
  return statements;
}

/** The edges of rule D7.1 from the reference files. */
export function readEdges(): OracleEdge[] {
  const { active, went } = readRev5();
  const isActive = new Set(active);
  const edges = new Map<string, OracleEdge>();
  const followed = (control: string, seen = new Set<string>()): string[] => {
    if (isActive.has(control)) return [control];
    if (seen.has(control)) return [];
    seen.add(control);
    return (went.get(control) ?? []).flatMap((next) => followed(next, seen));
  };
  const statements = readStatements().filter(
    ({ from, fromVersion }) => !from.startsWith('cci:') || fromVersion === newestCcis.version,
  );
  const inRev5 = new Set(statements.flatMap(({ from, toVersion }) => (toVersion === '5' ? [from] : [])));
  for (const { from, to, toVersion } of statements) {
    if (toVersion !== (inRev5.has(from) ? '5' : '4')) continue;
    const control = to.slice(to.indexOf(':') + 1);
    const isCci = from.startsWith('cci:');
    // A CCI leads nowhere through a withdrawn control, and what is stated for an older revision is carried over.
    const targets =
      toVersion === '5' && !isCci ? [control] : isCci && !isActive.has(control) ? [] : followed(control);
    const isStated = toVersion === '5' || (from.startsWith('dod-8500:') && isActive.has(control));
    for (const target of targets) {
      const ends: [string, string] = [from, `nist-800-53:${target}`];
      const known = edges.get(ends.join(' '));
      if (known === undefined) edges.set(ends.join(' '), { ends, status: isStated ? 'verified' : 'auto' });
      else if (isStated) known.status = 'verified';
    }
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
