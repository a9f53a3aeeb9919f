import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { StigChangelog, StigStats } from '../../catalog/stigs/schema.ts';
import { Day, link, path, Severity, Table, Tiles } from './components.tsx';
import { diffHref } from './rule.tsx';
import type { View } from './view.ts';

/** What the start page shows who is signed in. */
export interface Home {
  stats: StigStats;
  changes: StigChangelog['changes'];
}

/** The start page; without a home nobody is signed in. `firstRun` stands there while no publisher's STIG was imported. */
export function homePage(home: Home | null, firstRun: Child = null): View {
  return {
    title: 'Gapstone',
    findsItself: true,
    heading: 'Find a rule, compare releases, trace a control',
    body: (
      <>
        <p class="lead">
          STIGs with every release, the NIST and DoD control catalogs, and the crosswalk between them, from
          the publishers’ own files, on this machine.
        </p>
        <form class="filters" action="/search">
          <div class="question">
            <label for="q">Search STIGs, rules, controls, CCIs and roles</label>
            <div class="row">
              <input id="q" name="q" type="search" maxlength={200} aria-describedby="q-hint" />
              <button type="submit">Search</button>
            </div>
            <p class="hint" id="q-hint">
              Words, “a phrase”, a prefix such as audit*, or an id: V-257777, SV-257777, CCI-000366, AC-2(1).
            </p>
          </div>
        </form>
        {firstRun}
        {home === null ? <Invitation /> : <Overview home={home} />}
      </>
    ),
  };
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

function Overview({ home: { stats, changes } }: { home: Home }): Child {
  const { catalog, severity } = stats;
  if (catalog.totalBenchmarks === 0) {
    return null;
  }
  const tile = (number: number, label: Child): [number, Child] => [number, <a href="/stigs">{label}</a>];
  return (
    <>
      <Tiles
        of={[
          tile(catalog.totalBenchmarks, catalog.totalBenchmarks === 1 ? 'STIG' : 'STIGs'),
          tile(
            catalog.totalFindings,
            catalog.totalFindings === 1 ? 'rule in a latest release' : 'rules in the latest releases',
          ),
          tile(
            severity.high,
            <>
              <Severity level="high" /> {severity.high === 1 ? 'rule' : 'rules'}
            </>,
          ),
        ]}
      />
      <h2>Latest releases</h2>
      <Table
        caption="The latest releases of STIGs"
        head={['STIG', 'Release', 'Date', 'Previous release']}
        rows={changes.map((change) => [
          <a href={link(path('stigs', change.slug), { version: change.newVersion })}>{change.title}</a>,
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
      <p class="quiet">
        {count(changes.length, 'release')} shown. <a href="/changes">What changed in all STIGs</a>
      </p>
    </>
  );
}
