import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { RoleMappingRow } from '../../catalog/guidance/role-schema.ts';
import type { Finding, StigVersions } from '../../catalog/stigs/schema.ts';
import type { Pagination } from '../../http/schema.ts';
import {
  Day,
  Downloads,
  Empty,
  Facts,
  Hidden,
  Ids,
  link,
  Nothing,
  Pager,
  PostButton,
  path,
  Severity,
  SeverityBoxes,
  SeverityCounts,
  Table,
} from './parts.tsx';
import { ruleHref } from './rule.tsx';
import type { View } from './view.ts';

/** A release of a STIG with a page of its rules. */
export interface StigPage {
  slug: string;
  title: string;
  benchmarkId: string;
  description: string;
  version: string;
  status: string;
  releaseDate: string | null;
  findingCount: number;
  counts: Record<Finding['severity'], number>;
  findings: Finding[];
  pagination: Pagination;
  filter: { search: string; severity: string[]; cci: string };
  versions: StigVersions['versions'];
  isFavorite: boolean;
  /** The reader's own lists, to add it to. */
  lists: { id: string; name: string }[];
  /** Who acts on this STIG; null for who is not entitled to see that. */
  roles: RoleMappingRow[] | null;
}

const formats = ['cklb', 'json', 'csv', 'xml'] as const;

export function stigPage(stig: StigPage): View {
  const { slug, version } = stig;
  const isCurrent = stig.versions.find((each) => each.current)?.version === version;
  const older = stig.versions[stig.versions.findIndex((each) => each.version === version) + 1];
  const home = path('stigs', slug);
  return {
    title: `${stig.title} ${version}`,
    section: 'stigs',
    body: (
      <>
        <p class="crumbs">
          <a href="/stigs">STIGs</a>
        </p>
        <h1>{stig.title}</h1>
        <Facts
          of={[
            ['Release', isCurrent ? version : `${version} (not the latest)`],
            ['Date', <Day date={stig.releaseDate} />],
            ['Status', stig.status],
            ['Rules', stig.findingCount],
            ['By severity', <SeverityCounts counts={stig.counts} />],
            ['Benchmark', <span class="mono">{stig.benchmarkId}</span>],
          ]}
        />
        {isCurrent ? null : (
          <p class="notice">
            This is not the latest release. <a href={home}>Show the latest release</a>
          </p>
        )}
        <div class="actions">
          <Downloads
            href={(format) =>
              link(`/api/v1/stigs/${encodeURIComponent(slug)}/download`, {
                format,
                version: isCurrent ? '' : version,
              })
            }
            formats={formats}
          />
          <PostButton
            action={stig.isFavorite ? '/favorites/stigs/remove' : '/favorites/stigs'}
            label={stig.isFavorite ? '★ Remove from favorites' : '☆ Add to favorites'}
            fields={{ slug, next: home }}
            quiet
          />
          {older === undefined ? null : (
            <a class="button quiet" href={changesHref(slug, older.version, version)}>
              Compare with {older.version}
            </a>
          )}
          <a class="button quiet" href={link('/upgrade', { slug })}>
            Upgrade a checklist to this release
          </a>
        </div>
        <AddToList slug={slug} lists={stig.lists} />
        <Rules stig={stig} isCurrent={isCurrent} />
        <Releases stig={stig} />
        <Roles roles={stig.roles} />
        {stig.description.trim() === '' ? null : (
          <details class="more">
            <summary>Publisher’s description</summary>
            <div class="prose">{stig.description}</div>
          </details>
        )}
      </>
    ),
  };
}

/** The page that compares two releases. */
function changesHref(slug: string, from: string, to: string): string {
  return link(path('stigs', slug, 'diff'), { from, to });
}

function AddToList({ slug, lists }: { slug: string; lists: StigPage['lists'] }): Child {
  return (
    <details class="more">
      <summary>Add to a list</summary>
      {lists.length === 0 ? (
        <p>
          You have no lists yet. <a href="/lists#new">Create a list</a>
        </p>
      ) : (
        <form class="actions" method="post" action="/lists/add">
          <Hidden fields={{ slug }} />
          <label for="list">List</label>
          <select id="list" name="list">
            {lists.map((list) => (
              <option value={list.id}>{list.name}</option>
            ))}
          </select>
          <button type="submit">Add</button>
        </form>
      )}
    </details>
  );
}

function Rules({ stig, isCurrent }: { stig: StigPage; isCurrent: boolean }): Child {
  const { slug, filter, findings, pagination } = stig;
  const version = isCurrent ? '' : stig.version;
  const home = path('stigs', slug);
  const href = (page: number) => `${link(home, { version, ...filter, page })}#rules`;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <form class="filters" action={`${home}#rules`}>
        {version === '' ? null : <Hidden fields={{ version }} />}
        <div>
          <label for="search">ID or title contains</label>
          <input id="search" name="search" type="search" value={filter.search} maxlength={200} />
        </div>
        <div>
          <label for="cci">CCI</label>
          <input id="cci" name="cci" value={filter.cci} maxlength={40} placeholder="CCI-000366" size={12} />
        </div>
        <SeverityBoxes selected={filter.severity} />
        <div>
          <button type="submit">Apply filters</button>
        </div>
      </form>
      <p class="quiet">
        {pagination.total === stig.findingCount
          ? count(pagination.total, 'rule')
          : `${pagination.total} of ${count(stig.findingCount, 'rule')}`}
        . These filters look at IDs and titles. To search discussions, checks and fixes too,{' '}
        <a href={link('/search', { q: filter.search, stig: slug })}>search all text of this STIG</a>.
      </p>
      {findings.length === 0 ? (
        <Nothing pagination={pagination} href={href}>
          No rules match these filters. <a href={link(home, { version })}>Show all rules</a>
        </Nothing>
      ) : (
        <Table
          caption={`Rules of ${stig.title}`}
          class="rules"
          key={2}
          head={['Severity', 'ID', 'Rule', 'CCIs']}
          rows={findings.map((rule) => [
            <Severity level={rule.severity} />,
            <span class="ids">
              {rule.groupId}
              <br />
              {rule.ruleVersion}
            </span>,
            <a href={ruleHref(slug, rule, version)}>{rule.ruleTitle}</a>,
            <Ids of={rule.ruleIdents} />,
          ])}
        />
      )}
      <Pager pagination={pagination} href={href} />
    </section>
  );
}

function Releases({ stig }: { stig: StigPage }): Child {
  const { slug, versions } = stig;
  return (
    <section aria-labelledby="releases">
      <h2 id="releases">Releases</h2>
      <Table
        caption="Releases"
        head={['Release', 'Date', 'Status', 'Rules', 'What changed']}
        rows={versions.map((each, index) => {
          const older = versions[index + 1];
          return [
            <a href={link(path('stigs', slug), { version: each.current ? '' : each.version })}>
              {each.version}
            </a>,
            <Day date={each.releaseDate} />,
            each.current ? `${each.status}, latest` : each.status,
            each.findingCount,
            older === undefined ? (
              <span class="quiet">no earlier release</span>
            ) : (
              <a href={changesHref(slug, older.version, each.version)}>Changes since {older.version}</a>
            ),
          ];
        })}
      />
    </section>
  );
}

function Roles({ roles }: { roles: RoleMappingRow[] | null }): Child {
  return (
    <section aria-labelledby="roles">
      <h2 id="roles">Who acts on this STIG</h2>
      {roles === null ? (
        <Empty>You need the role-data permission (occ) to see this.</Empty>
      ) : roles.length === 0 ? (
        <Empty>No occupation is mapped to this STIG.</Empty>
      ) : (
        <Table
          caption="Occupations by relevance"
          head={['Occupation', 'Responsibility', 'Confidence', 'Reason', 'NICE work role']}
          rows={roles.map((row) => [
            <a href={path('roles', row.occupationCode)}>{row.occupationTitle}</a>,
            row.roleResponsibilityLevel,
            `${Math.round(row.confidenceScore * 100)}%${row.mappingSource === 'curated' ? ', curated' : ''}`,
            row.mappingReason,
            row.niceWorkRoleName === undefined ? '' : `${row.niceWorkRoleName} (${row.niceWorkRoleId})`,
          ])}
        />
      )}
    </section>
  );
}
