import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { createMappingDecisions } from './decisions.ts';
import {
  createGraph,
  type Graph,
  type GraphNode,
  type NamedEdge,
  type NumberedEdge,
  nameOfEdge,
  numberEdges,
} from './graph.ts';

/** Gives the graph of the sources with the site's decisions; `isDecided` where a decision changes an edge. */
export function createWalkedGraph(db: Database) {
  const nodeRows = db.sqlite.prepare<[], GraphNode>(
    'SELECT framework, identifier FROM crosswalk_nodes ORDER BY id',
  );
  const edgeRows = db.sqlite.prepare<[], NumberedEdge>('SELECT a, b, status FROM crosswalk_edges');
  const decisions = createMappingDecisions(db);
  return perGeneration(db, (): { graph: Graph; isDecided: boolean } => {
    const [nodes, edges] = [nodeRows.all(), edgeRows.all()];
    const stated = createGraph(nodes, edges);
    const decided = decisions.over(stated);
    const graph = decided.length === 0 ? stated : withDecisions(nodes, edges, decided);
    return { graph, isDecided: decided.length > 0 };
  });
}

/** Decided edges replace those of the sources or are added to them; they may have nodes that no source maps. */
function withDecisions(nodes: GraphNode[], edges: NumberedEdge[], decided: NamedEdge[]): Graph {
  const stated = edges.map(({ a, b, status }): NamedEdge => ({ a: nodes[a]!, b: nodes[b]!, status }));
  const all = new Map([...stated, ...decided].map((edge) => [nameOfEdge(edge), edge]));
  const numbered = numberEdges([...all.values()]);
  return createGraph(numbered.nodes, numbered.edges);
}
