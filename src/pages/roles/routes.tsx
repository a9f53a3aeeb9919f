import type { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import { type Role, type Roles, rolesQuery } from '../../catalog/guidance/role-schema.ts';
import type { RoleCollections } from '../../collections/catalog-collections-schema.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import { Downloads, Empty, Facts, path, ReadCollections, StigLink, Table } from '../parts/components.tsx';
import { FindForm, Input } from '../parts/forms.tsx';
import { listing } from '../parts/listing.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import type { View } from '../parts/view.ts';

/** Occupations, for readers with the entitlement. */
export function rolePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { roles, roleCollections }: Pick<Services, 'roles' | 'roleCollections'>,
): void {
  app.get('/roles', guard.entitled('occ'), (c) => {
    const query = readQuery(c, rolesQuery);
    const { collections } = roleCollections.all(c.get('user'));
    const filter = { search: query.search, family: query.family, limit: c.req.query('limit') };
    return show(c, rolesPage({ roles: roles.list(query), collections, filter }));
  });

  app.get('/roles/:code', guard.entitled('occ'), (c) =>
    show(c, rolePage({ role: roles.record(c.req.param('code')) })),
  );
}

function rolesPage(page: {
  roles: Roles;
  collections: RoleCollections['collections'];
  filter: Partial<Record<'search' | 'family' | 'limit', string | undefined>>;
}): View {
  const { roles, pagination } = page.roles;
  const { search = '', family = '', limit } = page.filter;
  return {
    title: 'Occupational roles',
    section: 'roles',
    body: (
      <>
        {listing({
          filters: (
            <FindForm action="/roles" label="Title or code contains" search={search} keep={{ limit }}>
              <Input name="family" label="Family" type="search" value={family} maxlength={200} />
            </FindForm>
          ),
          summary: count(pagination.total, 'occupation'),
          caption: 'Occupations',
          headColumn: 1,
          columns: [
            ['Code', ({ occupationCode }) => <span class="ids">{occupationCode}</span>],
            [
              'Occupation',
              ({ occupationCode, title }) => <a href={path('roles', occupationCode)}>{title}</a>,
            ],
            ['Family', (role) => role.occupationFamily],
            ['Job zone', (role) => role.jobZone ?? ''],
            ['Tasks', (role) => role.taskCount],
            ['Technologies', (role) => role.technologySkillCount],
            ['STIGs', (role) => role.stigMappingCount],
          ],
          rows: roles,
          home: '/roles',
          query: page.filter,
          pagination,
          empty:
            search + family === ''
              ? `No occupations yet. Import a release of O*NET with ${programName} import PATH.`
              : 'No occupation fits.',
        })}
        <ReadCollections
          of="Roles"
          api="role-collections"
          collections={page.collections.map((each) => ({ ...each, count: each.roleCount }))}
        />
      </>
    ),
  };
}

const shown = 60;

function rolePage({ role }: { role: Role }): View {
  return {
    title: role.title,
    section: 'roles',
    crumbs: [['Occupational roles', '/roles']],
    actions: (
      <Downloads
        of={path('roles', role.occupationCode, 'download')}
        formats={['json', 'csv', 'xml', 'xlsx']}
      />
    ),
    body: (
      <>
        <p class="lead">{role.description}</p>
        <Facts
          of={[
            ['Code', <span class="ids">{role.occupationCode}</span>],
            ['Family', role.occupationFamily],
            [
              'Job zone',
              role.jobZone === null ? (
                <span class="quiet">none</span>
              ) : (
                `${role.jobZone} ${role.jobZoneName ?? ''}`
              ),
            ],
          ]}
        />
        <h2>STIGs they act on</h2>
        <Table
          caption="STIGs by relevance"
          head={['STIG', 'Release', 'Responsibility', 'Confidence', 'Reason']}
          rows={role.stigMappings.map((each) => [
            <StigLink of={{ slug: each.stigSlug, title: each.stigTitle }} />,
            each.stigVersion,
            each.roleResponsibilityLevel,
            `${Math.round(each.confidenceScore * 100)}%`,
            each.mappingReason,
          ])}
        >
          No STIG in the catalog is mapped to this occupation.
        </Table>
        <h2>Tasks</h2>
        {role.tasks.length === 0 ? (
          <Empty>No tasks are published for this occupation.</Empty>
        ) : (
          <ul>
            {role.tasks.map((task) => (
              <li>
                {task.statement} {task.taskType === null ? null : <span class="tag">{task.taskType}</span>}
              </li>
            ))}
          </ul>
        )}
        <Ratings name="Skills" of={role.skills} />
        <Ratings name="Abilities" of={role.abilities} />
        <Ratings name="Work activities" of={role.workActivities} />
        {role.technologySkills.length === 0 ? null : (
          <details class="more">
            <summary>Technologies ({role.technologySkills.length})</summary>
            <ul>
              {role.technologySkills.map((each) => (
                <li>
                  {each.example} <span class="quiet">{each.title}</span>
                  {each.hotTechnology ? <span class="tag">hot</span> : null}
                  {each.inDemand ? <span class="tag">in demand</span> : null}
                </li>
              ))}
            </ul>
          </details>
        )}
      </>
    ),
  };
}

function Ratings({ name, of }: { name: string; of: Role['skills'] }): Child {
  if (of.length === 0) return null;
  return (
    <details class="more">
      <summary>
        {name} ({of.length})
      </summary>
      <Table
        caption={name}
        head={['Name', 'Scale', 'Value']}
        rows={of.slice(0, shown).map((each) => [each.name, each.scaleId, each.value])}
      />
      {of.length > shown ? (
        <p class="quiet">The first {shown} are shown. Download the role to see all.</p>
      ) : null}
    </details>
  );
}
