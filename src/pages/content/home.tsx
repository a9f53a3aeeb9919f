import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import type { ChangesSince } from '../../catalog/stigs/changes-schema.ts';
import type { LastImport } from '../../catalog/stigs/news.ts';
import type { StigChangelog, StigStats } from '../../catalog/stigs/schema.ts';
import type { List } from '../../collections/lists-schema.ts';
import type { Pagination } from '../../http/schema.ts';
import { Day, Empty, link, Moment, path, Severity, StigLink, Table, Totals } from '../parts/components.tsx';
import { PostButton } from '../parts/forms.tsx';
import { diffHref } from '../parts/links.tsx';
import { partPath } from '../parts/list-frame.tsx';
import type { View } from '../parts/view.ts';

export interface Home {
  stats: StigStats;
  changes: StigChangelog['changes'];
  /** The releases of the last import; null when it added the whole catalog. */
  brought: LastImport | null;
  lists: {
    rows: { list: Omit<List, 'seenAt'>; seenAt: string | null; news: ChangesSince }[];
    pagination: Pagination;
  };
}

/** The start page; `home` is null without a session. `firstRun` shows while the catalog has no publisher's STIG. */
export function homePage(home: Home | null, firstRun: Child = null): View {
  return {
    title: 'Gapstone',
    findsItself: home === null,
    heading: home === null ? 'Find a rule, compare releases, trace a control' : 'Your lists',
    actions:
      home === null || home.lists.rows.length === 0 ? undefined : (
        <a class="button quiet" href="/systems#new">
          Add a list
        </a>
      ),
    body: (
      <>
        {home === null ? <Question /> : <Worklist lists={home.lists} />}
        {firstRun}
        {home === null ? <Invitation /> : <Overview home={home} />}
      </>
    ),
  };
}

function Question(): Child {
  return (
    <>
      <p class="lead">
        STIGs with every release, the NIST and DoD control catalogs, and the crosswalk between them, from the
        publishers’ own files, on this machine.
      </p>
      <form class="filters" action="/search">
        <div class="question">
          <label for="q">Search STIGs, rules, controls, CCIs and roles</label>
          <div class="row">
            <input id="q" name="q" type="search" maxlength={500} aria-describedby="q-hint" />
            <button type="submit">Search</button>
          </div>
          <p class="hint" id="q-hint">
            Words, “a phrase”, a prefix such as audit*, what people call a STIG, such as rhel 9, or an id:
            V-257777, SV-257777, CCI-000366, AC-2(1).
          </p>
        </div>
      </form>
    </>
  );
}

function Invitation(): Child {
  return (
    <>
      <h2>Open without signing in</h2>
      <ul>
        <li>
          <a href="/controls">Controls</a> of NIST SP 800-53, NIST SP 800-171 and DoD 8500.2, each with its
          crosswalk
        </li>
        <li>
          <a href="/docs">The API reference</a>
        </li>
      </ul>
      <p>
        <a class="button" href="/signin">
          Sign in
        </a>{' '}
        to see STIGs, their rules and releases, and your lists.
      </p>
    </>
  );
}

function Overview({ home: { stats, changes, brought } }: { home: Home }): Child {
  const { catalog, severity } = stats;
  if (catalog.totalBenchmarks === 0) {
    return null;
  }
  const levels = ['high', 'medium', 'low'] as const;
  const rulesOf = (of: string[]) => link('/search', { severity: of });
  return (
    <>
      <Totals
        of={[
          [catalog.totalBenchmarks, catalog.totalBenchmarks === 1 ? 'STIG' : 'STIGs', '/stigs'],
          [
            catalog.totalFindings,
            catalog.totalFindings === 1 ? 'rule in a latest release' : 'rules in the latest releases',
            rulesOf([...levels]),
          ],
          ...levels.map((level): [number, Child, string] => [
            severity[level],
            <>
              <Severity level={level} /> {severity[level] === 1 ? 'rule' : 'rules'}
            </>,
            rulesOf([level]),
          ]),
        ]}
      />
      {brought === null ? null : <Brought brought={brought} />}
      <h2>Latest releases</h2>
      <Releases caption="The latest releases of STIGs" changes={changes} />
      <p class="quiet">
        {count(changes.length, 'release')} shown. <a href="/changes">What changed in all STIGs</a>
      </p>
    </>
  );
}

/** What is new to the reader in each of their lists, since they marked it as read (rule D36.7). */
function Worklist({ lists: { rows, pagination } }: Pick<Home, 'lists'>): Child {
  return (
    <>
      {rows.length === 0 ? (
        <Empty>
          A list contains the STIGs of a system. <a href="/systems#new">Create a list</a>
        </Empty>
      ) : (
        <Table
          caption="What is new in your lists"
          head={['List', 'New to you', 'Since', 'Actions']}
          rows={rows.map(({ list, seenAt, news }) => [
            <>
              <a href={path('systems', list.id)}>{list.name}</a>{' '}
              <span class="quiet">{count(list.stigCount, 'STIG')}</span>
            </>,
            <News list={list} news={news} />,
            seenAt === null ? <span class="quiet">each STIG was added</span> : <Moment at={seenAt} />,
            news.totals.stigs === 0 ? (
              ''
            ) : (
              <PostButton
                action={path('systems', list.id, 'seen')}
                label="Mark as read"
                about={list.name}
                fields={{}}
              />
            ),
          ])}
        />
      )}
      {pagination.total > rows.length ? (
        <p>
          <a href="/systems">Show all {count(pagination.total, 'list')}</a>
        </p>
      ) : null}
    </>
  );
}

function News({ list, news: { totals, stigs } }: { list: { id: string }; news: ChangesSince }): Child {
  if (totals.stigs === 0) return <span class="quiet">nothing</span>;
  const raised = stigs.flatMap(({ severityRaised }) => severityRaised);
  const severe = raised.filter(({ to }) => to === 'high').length;
  return (
    <>
      <a href={link(partPath(list.id, 'changes'), { since: 'seen' })}>
        {count(totals.stigs, 'newer release')}
      </a>
      {severe === 0 ? null : (
        <>
          , {severe} raised to <Severity level="high" />
        </>
      )}
      {raised.length === severe ? null : `, ${raised.length - severe} raised`}, {totals.changed} changed,{' '}
      {totals.added} added, {totals.removed} removed
    </>
  );
}

function Brought({ brought: { at, run, changes, pagination } }: { brought: LastImport }): Child {
  const { total } = pagination;
  return (
    <>
      <h2>Releases from the last import</h2>
      <p class="quiet">
        {count(total, 'release')}, imported <Moment at={at} />
        {run === null ? null : (
          <>
            . <a href={path('content', 'imports', String(run))}>What the import did</a>
          </>
        )}
      </p>
      <Releases caption="Releases from the last import" changes={changes} />
      {total > changes.length ? <p class="quiet">The latest {changes.length} are shown.</p> : null}
    </>
  );
}

function Releases({ caption, changes }: { caption: string; changes: StigChangelog['changes'] }): Child {
  return (
    <Table
      caption={caption}
      head={['STIG', 'Release', 'Date', 'Previous release']}
      rows={changes.map((change) => [
        <StigLink of={change} version={change.newVersion} />,
        change.newVersion,
        <Day date={change.releaseDate} />,
        change.previousVersion === null ? (
          <span class="quiet">no earlier release</span>
        ) : (
          <a href={diffHref(change.slug, change.previousVersion, change.newVersion)}>
            Compare with {change.previousVersion}
          </a>
        ),
      ])}
    />
  );
}

/** What to import while the catalog has no publisher's STIG. `inbox` is null without folder or session. */
export function FirstRun({ inbox }: { inbox: string | null }): Child {
  return (
    <section aria-labelledby="first-run">
      <h2 id="first-run">Bring your STIGs</h2>
      <p>The catalog contains only the samples of the package. Add your STIGs in three steps:</p>
      <ol>
        <li>
          <b>Download</b> where there is a network: the <i>SRG-STIG Library Compilation</i> of the quarter
          from DISA (public.cyber.mil). For the texts of controls, also the OSCAL catalog of SP 800-53 and the
          CPRT export of SP 800-171 from NIST (csrc.nist.gov).
        </li>
        <li>
          <b>Carry</b> the files over unchanged. Do not unpack zips.
        </li>
        <li>
          {inbox === null ? (
            <>
              <b>Import</b> them on the machine that runs Gapstone: <code>{programName} import FILE…</code>
            </>
          ) : (
            <>
              <b>Put</b> them into the folder <code>{inbox}</code> on the machine that runs Gapstone. It
              imports files that have not changed for two seconds, and leaves them there.
            </>
          )}{' '}
          The STIGs appear here at once; <a href="/content">Content</a> names each file and its outcome.
        </li>
      </ol>
    </section>
  );
}
