import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { RoleMappingRow } from '../../catalog/guidance/role-schema.ts';
import type { StigService } from '../../catalog/stigs/queries.ts';
import type { StigAutomation } from '../../catalog/stigs/rule-automation.ts';
import { downloadFormats, type StigVersions } from '../../catalog/stigs/schema.ts';
import { Automation } from '../parts/checked-by.tsx';
import {
  Ccis,
  Day,
  Downloads,
  Empty,
  Facts,
  link,
  path,
  Severity,
  SeverityCounts,
  Table,
} from '../parts/components.tsx';
import { AddTo, FavoriteButton, FindForm, Input, SeverityBoxes } from '../parts/forms.tsx';
import { diffHref, type ReadingFilter, RuleIds, ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';

type Overview = ReturnType<StigService['overview']>;
type Shown = Overview['stig'] & Omit<Overview, 'stig'>;

export interface StigPage extends Shown {
  filter: ReadingFilter;
  /** The CCI of the filter as the catalog writes it. */
  cci: string;
  /** Those of the shown rules' CCIs that DISA deprecated. */
  deprecated: string[];
  versions: StigVersions['versions'];
  isFavorite: boolean;
  lists: { id: string; name: string }[];
  roles: RoleMappingRow[] | null;
  automation: StigAutomation;
}

export function stigPage(stig: StigPage): View {
  const { slug, version } = stig;
  const isCurrent = stig.versions.find((each) => each.current)?.version === version;
  const older = stig.versions[stig.versions.findIndex((each) => each.version === version) + 1];
  const home = path('stigs', slug);
  return {
    title: `${stig.title} ${version}`,
    section: 'stigs',
    crumbs: [['STIGs', '/stigs']],
    heading: stig.title,
    body: (
      <>
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
            of={path('stigs', slug, 'download')}
            formats={downloadFormats}
            version={isCurrent ? '' : version}
          />
          <FavoriteButton of="stigs" isFavorite={stig.isFavorite} fields={{ slug, next: home }} />
          {older === undefined ? null : (
            <a class="button quiet" href={diffHref(slug, older.version, version)}>
              Compare with {older.version}
            </a>
          )}
          <a class="button quiet" href={link(`${home}/coverage`, { version: isCurrent ? '' : version })}>
            Controls addressed
          </a>
          <a class="button quiet" href={link(`${home}/automation`, { version: isCurrent ? '' : version })}>
            What a scan answers
          </a>
          <a class="button quiet" href={link(`${home}/worksheet`, { version: isCurrent ? '' : version })}>
            Worksheet
          </a>
          <a class="button quiet" href={`${home}/beside`}>
            Beside another STIG
          </a>
          <a class="button quiet" href={link('/upgrade', { slug })}>
            Upgrade a checklist to this release
          </a>
        </div>
        <AddTo what="list" label="List" to={stig.lists} fields={{ slug }}>
          <label class="check">
            <input type="checkbox" name="release" value={version} checked={!isCurrent} /> Pin to {version}
          </label>
        </AddTo>
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

function Rules({ stig, isCurrent }: { stig: StigPage; isCurrent: boolean }): Child {
  const { slug, filter, findings, pagination, automation } = stig;
  const hasScap = automation.contents.length > 0;
  const version = isCurrent ? '' : stig.version;
  const home = path('stigs', slug);
  const href = (page: number) => `${link(home, { version, ...filter, page })}#rules`;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <FindForm
        action={`${home}#rules`}
        label="ID or title contains"
        search={filter.search}
        keep={{ version }}
      >
        <Input name="cci" label="CCI" value={filter.cci} maxlength={40} placeholder="CCI-000366" size={12} />
        <SeverityBoxes selected={filter.severity} />
      </FindForm>
      <p class="quiet">
        {pagination.total === stig.findingCount
          ? count(pagination.total, 'rule')
          : `${pagination.total} of ${count(stig.findingCount, 'rule')}`}
        . These filters look at IDs and titles. To search discussions, checks and fixes too,{' '}
        <a href={link('/search', { q: filter.search, stig: slug })}>search all text of this STIG</a>.
      </p>
      {findings.length === 0 || pagination.total === stig.findingCount ? null : (
        <div class="actions">
          <Downloads
            of={path('stigs', slug, 'download')}
            formats={['csv', 'xlsx']}
            version={version}
            query={{ ...filter, cci: stig.cci }}
            label="Download these rules"
          />
        </div>
      )}
      <Table
        caption={`Rules of ${stig.title}`}
        class="rules"
        headColumn={2}
        head={['Severity', 'ID', 'Rule', ...(hasScap ? ['Checked by'] : []), 'CCIs']}
        rows={findings.map((rule) => [
          <Severity level={rule.severity} />,
          <RuleIds of={rule} />,
          <a href={ruleHref(slug, rule, version, filter)}>{rule.ruleTitle}</a>,
          ...(hasScap ? [<Automation state={automation.of(rule.ruleId).state} />] : []),
          <Ccis of={rule.ruleIdents} deprecated={stig.deprecated} />,
        ])}
        pages={{ pagination, href }}
      >
        No rules match these filters. <a href={link(home, { version })}>Show all rules</a>
      </Table>
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
              <a href={diffHref(slug, older.version, each.version)}>Changes since {older.version}</a>
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
        >
          No occupation is mapped to this STIG.
        </Table>
      )}
    </section>
  );
}
