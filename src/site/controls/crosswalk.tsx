import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { MappingStatus } from '../../catalog/crosswalk/graph.ts';
import type { Path } from '../../catalog/crosswalk/schema.ts';
import { Empty, Facts, Status, statusSigns, Table } from '../parts/components.tsx';
import { Boxes, Filters, Select } from '../parts/forms.tsx';
import { controlHref, frameworkName } from '../parts/framework-links.ts';
import { layOut, nodeHeight, nodeWidth, type PictureEdge } from './picture.ts';

/** The crosswalk of a control: every path to other frameworks, limited by hops and statuses. */
export interface Crosswalk {
  source: { framework: string; identifier: string };
  targets: { framework: string; paths: Path[] }[];
  maxHops: number;
  statuses: MappingStatus[];
}

const meanings = {
  verified: 'verified: stated by the framework’s owner for these versions, or by an operator of this site',
  auto: 'auto: carried over from an older revision',
  rejected: 'rejected: by an operator of this site',
} as const;
const allStatuses = ['verified', 'auto', 'rejected'] as const;
const mostRows = 200;
const mostEnds = 12;

/** The crosswalk as a picture and as text. `action` is the address of its page. */
export function CrosswalkSection({ crosswalk, action }: { crosswalk: Crosswalk; action: string }): Child {
  const { source, targets, maxHops, statuses } = crosswalk;
  const paths = targets.flatMap((target) => target.paths);
  const reached = targets.filter((target) => target.paths.length > 0);
  return (
    <section aria-labelledby="crosswalk">
      <h2 id="crosswalk">Crosswalk</h2>
      <Filters action={`${action}#crosswalk`}>
        <Select
          name="maxHops"
          id="hops"
          label="Steps at most"
          of={['1', '2', '3', '4']}
          selected={String(maxHops)}
        />
        <Boxes name="status" legend="Mapping status" of={allStatuses} selected={statuses} />
      </Filters>
      {paths.length === 0 ? (
        <Empty>
          No mapping to another framework matches these filters. Allow more steps or more statuses.
        </Empty>
      ) : (
        <>
          <Facts
            of={reached.map(({ framework, paths }) => [frameworkName(framework), <Ends of={paths} />])}
          />
          <section class="picture" tabindex={0} aria-label="Picture of the crosswalk">
            <PictureOf source={source} paths={paths} />
          </section>
          <Legend />
          {reached.map((target) => (
            <Paths target={target} />
          ))}
        </>
      )}
    </section>
  );
}

function PictureOf({ source, paths }: { source: Crosswalk['source']; paths: Path[] }): Child {
  const picture = layOut(source, paths);
  const ends = new Set(paths.map((each) => JSON.stringify(each.controls.at(-1)))).size;
  const label = `${source.identifier} is mapped to ${count(ends, 'control')} over ${count(picture.edges.length, 'mapping')}; the tables below list them.`;
  return (
    <svg
      width={picture.width}
      height={picture.height}
      viewBox={`0 0 ${picture.width} ${picture.height}`}
      role="img"
      aria-label={label}
    >
      {picture.edges.map((edge) => (
        <path class={`edge ${edge.status}`} d={curve(edge)} />
      ))}
      {picture.edges.map((edge) => (
        <Sign edge={edge} />
      ))}
      {picture.labels.map(({ framework, more, x, y }) => (
        <text class="heading" x={x} y={y + 17}>
          {more === 0 ? frameworkName(framework) : `and ${more} more`}
        </text>
      ))}
      {picture.nodes.map((node) => {
        const isSource = node.framework === source.framework && node.identifier === source.identifier;
        return (
          <g class={isSource ? 'node source' : 'node'}>
            <rect x={node.x} y={node.y} width={nodeWidth} height={nodeHeight} rx="5" />
            <text x={node.x + 10} y={node.y + 17}>
              {node.identifier.length > 17 ? `${node.identifier.slice(0, 16)}…` : node.identifier}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

function ends({ from, to }: PictureEdge) {
  const right = from.x <= to.x;
  const bend = from.x === to.x ? 60 : Math.abs(to.x - from.x) / 2.2;
  return {
    x1: right ? from.x + nodeWidth : from.x,
    y1: from.y + nodeHeight / 2,
    x2: right && from.x !== to.x ? to.x : to.x + nodeWidth,
    y2: to.y + nodeHeight / 2,
    bend1: right ? bend : -bend,
    bend2: right && from.x !== to.x ? -bend : bend,
  };
}

function curve(edge: PictureEdge): string {
  const { x1, y1, x2, y2, bend1, bend2 } = ends(edge);
  return `M${x1} ${y1}C${x1 + bend1} ${y1} ${x2 + bend2} ${y2} ${x2} ${y2}`;
}

/** The sign of a status, near the end of its line: lines with the same beginning overlap there. */
function Sign({ edge }: { edge: PictureEdge }): Child {
  const { x1, y1, x2, y2, bend1, bend2 } = ends(edge);
  const t = 0.72;
  const at = (a: number, b: number, c: number, d: number) =>
    (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * d;
  const x = Math.round(at(x1, x1 + bend1, x2 + bend2, x2));
  const y = Math.round(at(y1, y1, y2, y2));
  return (
    <g class="sign">
      <circle cx={x} cy={y} r="7.5" />
      <text x={x} y={y + 4}>
        {statusSigns[edge.status]}
      </text>
    </g>
  );
}

function Legend(): Child {
  return (
    <ul class="legend">
      {allStatuses.map((status) => (
        <li>
          <svg width="44" height="16" aria-hidden="true">
            <path class={`edge ${status}`} d="M1 8H43" />
          </svg>
          <span aria-hidden="true">{statusSigns[status]}</span> {meanings[status]}
        </li>
      ))}
    </ul>
  );
}

/** The controls that paths lead to, each once. */
function Ends({ of }: { of: Path[] }): Child {
  const ends = [
    ...new Map(of.map(({ controls }) => [controls.at(-1)!.identifier, controls.at(-1)!])).values(),
  ];
  return (
    <>
      {ends.slice(0, mostEnds).map((end) => (
        <>
          <ControlLink {...end} />{' '}
        </>
      ))}
      {ends.length > mostEnds ? <span class="quiet">and {ends.length - mostEnds} more</span> : null}
    </>
  );
}

/** The paths to one framework, folded: the controls stand above. */
function Paths({ target: { framework, paths } }: { target: Crosswalk['targets'][number] }): Child {
  const controls = new Set(paths.map((each) => each.controls.at(-1)!.identifier)).size;
  const [one, name] = framework === 'cci' ? ['CCI', 'CCIs'] : ['control', frameworkName(framework)];
  return (
    <details class="more">
      <summary>
        {name}: {count(controls, one!)}, {count(paths.length, 'path')}
      </summary>
      <PathTable framework={framework} paths={paths} />
    </details>
  );
}

function PathTable({ framework, paths }: Crosswalk['targets'][number]): Child {
  return (
    <>
      <Table
        caption={`Paths to ${frameworkName(framework)}`}
        head={['Control', 'Steps', 'Path']}
        rows={paths.slice(0, mostRows).map(({ hops, controls: steps }) => [
          <ControlLink {...steps.at(-1)!} />,
          hops,
          steps.map((step, index) => (
            <span class="step">
              {index === 0 ? null : (
                <>
                  {' → '}
                  <Status status={step.status} />
                  {' → '}
                </>
              )}
              <span class="ids">{step.identifier}</span>
            </span>
          )),
        ])}
      />
      {paths.length > mostRows ? (
        <p class="quiet">The first {mostRows} paths are shown. The API returns all of them.</p>
      ) : null}
    </>
  );
}

function ControlLink({ framework, identifier }: { framework: string; identifier: string }): Child {
  return <a href={controlHref(framework, identifier)}>{identifier}</a>;
}
