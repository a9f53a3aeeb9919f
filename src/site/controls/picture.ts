import { type GraphNode, type MappingStatus, nameOf } from '../../catalog/crosswalk/graph.ts';
import type { Path } from '../../catalog/crosswalk/schema.ts';

/** A control with its place in pixels. */
export interface PictureNode extends GraphNode {
  x: number;
  y: number;
}

/** A mapping between two controls, from the one nearer to the source. */
export interface PictureEdge {
  from: PictureNode;
  to: PictureNode;
  status: MappingStatus;
}

/** A framework's heading, or below its controls the number of those that are not drawn. */
export interface PictureLabel {
  framework: string;
  /** Controls that are not drawn; 0 for a heading. */
  more: number;
  x: number;
  y: number;
}

export interface Picture {
  width: number;
  height: number;
  nodes: PictureNode[];
  edges: PictureEdge[];
  labels: PictureLabel[];
}

export const nodeWidth = 132;
export const nodeHeight = 24;
const rowHeight = 31;
const columnWidth = 290;
const margin = 8;
/** More nodes would be unreadable; the table below the picture has all. */
const mostNodes = 24;

/** The columns put NIST SP 800-53, which maps to all others, in the middle, so most lines join adjacent columns. */
function columnOf(framework: string): number {
  if (framework === 'nist-800-53') return 1;
  return framework === 'cci' ? 2 : 0;
}

/** Lays out the controls and mappings of paths from one source, each once. */
export function layOut(source: GraphNode, paths: Path[]): Picture {
  const groups = new Map<string, Set<string>>();
  const add = ({ framework, identifier }: GraphNode) =>
    groups.set(framework, (groups.get(framework) ?? new Set()).add(identifier));
  add(source);
  const mappings = new Map<string, { from: string; to: string; status: MappingStatus }>();
  for (const { controls } of paths) {
    controls.forEach((control, index) => {
      add(control);
      const before = controls[index - 1];
      if (before === undefined) return;
      const ends = [nameOf(before), nameOf(control)] as const;
      if (mappings.has(`${ends[1]}|${ends[0]}`)) return;
      mappings.set(`${ends[0]}|${ends[1]}`, { from: ends[0], to: ends[1], status: control.status });
    });
  }

  const columns: string[][] = [[], [], []];
  for (const framework of groups.keys()) columns[columnOf(framework)]!.push(framework);
  const used = columns.filter((frameworks) => frameworks.length > 0);

  const nodes = new Map<string, PictureNode>();
  const labels: PictureLabel[] = [];
  let bottom = 0;
  used.forEach((frameworks, column) => {
    const x = margin + column * columnWidth;
    let y = margin;
    for (const framework of frameworks) {
      const identifiers = [...groups.get(framework)!];
      labels.push({ framework, more: 0, x, y });
      y += rowHeight;
      for (const identifier of identifiers.slice(0, mostNodes)) {
        nodes.set(nameOf({ framework, identifier }), { framework, identifier, x, y });
        y += rowHeight;
      }
      if (identifiers.length > mostNodes) {
        labels.push({ framework, more: identifiers.length - mostNodes, x, y });
        y += rowHeight;
      }
    }
    bottom = Math.max(bottom, y);
  });

  const edges = [...mappings.values()].flatMap(({ from, to, status }) => {
    const [start, end] = [nodes.get(from), nodes.get(to)];
    return start && end ? [{ from: start, to: end, status }] : [];
  });
  return {
    width: (used.length - 1) * columnWidth + nodeWidth + 2 * margin,
    height: bottom + margin,
    nodes: [...nodes.values()],
    edges,
    labels,
  };
}
