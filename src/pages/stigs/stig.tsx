import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { RoleMappingRow } from '../../catalog/guidance/role-schema.ts';
import type { StigService } from '../../catalog/stigs/queries.ts';
import { automationStates, type StigAutomation } from '../../catalog/stigs/rule-automation.ts';
import { downloadFormats, type StigVersions } from '../../catalog/stigs/schema.ts';
import {
  Automation,
  Day,
  Downloads,
  Empty,
  Facts,
  link,
  Menu,
  path,
  Severity,
  SeverityCounts,
  stateNames,
  Table,
} from '../parts/components.tsx';
import { AddTo, FavoriteButton, FindForm, Input, Select, SeverityBoxes } from '../parts/forms.tsx';
import { diffHref, type ReadingFilter, ruleHref } from '../parts/links.tsx';
import { listing } from '../parts/listing.tsx';
import { pinnedOf, stigPath, stigView } from '../parts/stig-frame.tsx';
import type { View } from '../parts/view.ts';

type Overview = ReturnType<StigService['overview']>;
type Shown = Overview['stig'] & Omit<Overview, 'stig'>;

interface StigPage extends Shown {
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

/** Older releases in the menu; the tab of releases has all. */
const mostCompared = 6;

/** A tab of a STIG that this file shows; others have a page of their own. */
export type OwnPart = 'rules' | 'releases' | 'roles' | 'about';

export function stigPage(stig: StigPage, part: OwnPart): View {
  const { slug, version, versions, filter } = stig;
  const pinned = pinnedOf(stig);
  const place = versions.findIndex((each) => each.version === version);
  const older = versions.slice(place + 1, place + 1 + mostCompared);
  return stigView({
    stig,
    part,
    keep: part === 'rules' ? { search: filter.search, cci: filter.cci } : {},
    facts: (
      <p>
        {count(stig.findingCount, 'rule')} <SeverityCounts counts={stig.counts} />
      </p>
    ),
    actions: (
      <>
        <FavoriteButton
          of="stigs"
          isFavorite={stig.isFavorite}
          fields={{ slug, next: stigPath(slug, 'rules') }}
        />
        <AddTo what="list" label="List" to={stig.lists} fields={{ slug }}>
          <label class="check">
            <input type="checkbox" name="release" value={version} checked={pinned !== ''} /> Pin to {version}
          </label>
        </AddTo>
        <Downloads of={path('stigs', slug, 'download')} formats={downloadFormats} version={pinned} />
        {older.length === 0 ? null : (
          <Menu label="Compare">
            <ul class="downloads" aria-label="Compare">
              {older.map((each) => (
                <li>
                  <a class="button" href={diffHref(slug, each.version, version)}>
                    With {each.version}
                  </a>
                </li>
              ))}
            </ul>
          </Menu>
        )}
      </>
    ),
    body:
      part === 'rules' ? (
        <Rules stig={stig} />
      ) : part === 'releases' ? (
        <Releases stig={stig} />
      ) : part === 'roles' ? (
        <Roles roles={stig.roles} />
      ) : (
        <About stig={stig} />
      ),
  });
}

function About({ stig }: { stig: StigPage }): Child {
  return (
    <>
      <Facts
        of={[
          ['Title', stig.title],
          ['Release', stig.version],
          ['Date', <Day date={stig.releaseDate} />],
          ['Status', stig.status],
          ['Benchmark', <span class="mono">{stig.benchmarkId}</span>],
        ]}
      />
      {stig.description.trim() === '' ? (
        <Empty>The publisher gives no description.</Empty>
      ) : (
        <div class="prose">{stig.description}</div>
      )}
    </>
  );
}

function Rules({ stig }: { stig: StigPage }): Child {
  const { slug, filter, findings, pagination, automation } = stig;
  const hasScap = automation.contents.length > 0;
  const version = pinnedOf(stig);
  const home = path('stigs', slug);
  return (
    <section aria-labelledby="rules">
      <h2 id="rules" class="hidden">
        Rules
      </h2>
      <FindForm
        action={`${home}#rules`}
        label="ID or title contains"
        search={filter.search}
        keep={{ version }}
      >
        <Input name="cci" label="CCI" value={filter.cci} maxlength={40} placeholder="CCI-000366" size={12} />
        <SeverityBoxes selected={filter.severity} />
        {hasScap ? (
          <Select
            name="checked"
            label="Checked by"
            none="any"
            of={automationStates.map((state) => [state, stateNames[state]])}
            selected={filter.checked[0] ?? ''}
          />
        ) : null}
      </FindForm>
      {pagination.total === stig.findingCount ? null : (
        <div class="actions">
          <span>
            {pagination.total} of {count(stig.findingCount, 'rule')}.{' '}
            <a href={link('/search', { q: filter.search, stig: slug })}>Search all text of this STIG</a>
          </span>
          {findings.length === 0 || filter.checked.length > 0 ? null : (
            <Downloads
              of={path('stigs', slug, 'download')}
              formats={['csv', 'xlsx']}
              version={version}
              query={{ search: filter.search, severity: filter.severity, cci: stig.cci }}
              label="Download these rules"
            />
          )}
        </div>
      )}
      {listing({
        caption: `Rules of ${stig.title}`,
        class: 'lines',
        headColumn: 3,
        columns: [
          ['Severity', ({ severity }) => <Severity level={severity} />],
          ['V-ID', ({ groupId }) => <span class="ids">{groupId}</span>],
          ['STIG ID', ({ ruleVersion }) => <span class="ids">{ruleVersion}</span>],
          [
            'Rule',
            (rule) => (
              <a href={ruleHref(slug, rule, version, filter)} title={rule.ruleTitle}>
                {rule.ruleTitle}
              </a>
            ),
          ],
          hasScap && ['Checked by', ({ ruleId }) => <Automation state={automation.of(ruleId).state} />],
          ['CCIs', ({ ruleIdents }) => <FirstCci of={ruleIdents} deprecated={stig.deprecated} />],
        ],
        rows: findings,
        home,
        query: { version, ...filter },
        anchor: '#rules',
        pagination,
        empty: (
          <>
            No rules match these filters. <a href={link(home, { version })}>Show all rules</a>
          </>
        ),
      })}
    </section>
  );
}

/** The first CCI, with the number of others: all are in the title and on the rule's page. */
function FirstCci({ of, deprecated }: { of: string[]; deprecated: string[] }): Child {
  const [first, ...others] = of;
  if (first === undefined) return null;
  return (
    <span class="ids" title={of.map((cci) => cciState(cci, deprecated)).join(', ')}>
      {cciState(first, deprecated)}
      {others.length === 0 ? '' : ` +${others.length}`}
    </span>
  );
}

const cciState = (cci: string, deprecated: string[]) =>
  deprecated.includes(cci) ? `${cci} deprecated` : cci;

function Releases({ stig }: { stig: StigPage }): Child {
  const { slug, versions } = stig;
  return (
    <section aria-label="Releases">
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
    <section aria-label="Who is responsible">
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
