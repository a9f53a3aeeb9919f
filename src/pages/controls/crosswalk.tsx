import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { MappingStatus } from '../../catalog/crosswalk/graph.ts';
import type { Path } from '../../catalog/crosswalk/schema.ts';
import { Empty, Facts, Status, statusSigns, Table } from '../parts/components.tsx';
import { Boxes, Filters, Select } from '../parts/forms.tsx';
import { controlHref, frameworkName } from '../parts/links.tsx';

/** The crosswalk of a control: every path to other frameworks, limited by hops and statuses. */
export interface Crosswalk {
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

/** The crosswalk of a control. `action` is the address of its page. */
export function CrosswalkSection({ crosswalk, action }: { crosswalk: Crosswalk; action: string }): Child {
  const { targets, maxHops, statuses } = crosswalk;
  const paths = targets.flatMap((target) => target.paths);
  const reached = targets.filter((target) => target.paths.length > 0);
  return (
    <section aria-labelledby="crosswalk">
      <h2 id="crosswalk">Crosswalk</h2>
      <Filters action={`${action}#crosswalk`}>
        <Select
          name="maxHops"
          id="hops"
          label="Maximum steps"
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
          <Legend />
          {reached.map((target) => (
            <Paths target={target} />
          ))}
        </>
      )}
    </section>
  );
}

function Legend(): Child {
  return (
    <ul class="legend">
      {allStatuses.map((status) => (
        <li>
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
