import type { Child } from 'hono/jsx';
import { type Beside, type Likeness, likenesses } from '../../catalog/stigs/likeness.ts';
import type { StigRelease } from '../../catalog/stigs/queries.ts';
import type { Column } from '../../http/columns.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import { Facts, Ids, link, path, Severity, StigLink, shortTitle, Table } from '../parts/components.tsx';
import { Filters, Input, Select } from '../parts/forms.tsx';
import { ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';

type Named = Pick<StigRelease, 'slug' | 'title' | 'version'>;
type Rule = NonNullable<Beside['left']>;

export interface BesidePage {
  left: Named;
  /** The other STIG; null until one is named. */
  right: Named | null;
  asked: string;
  problem: string | null;
  lines: Beside[];
  kind: Likeness | '';
  page: number;
}

const linesPerPage = 100;
const kindNames: Record<Likeness, string> = {
  alike: 'alike',
  requirement: 'same SRG requirement',
  left: 'only in the first',
  right: 'only in the second',
};

/** Two STIGs side by side: which rules are alike by SRG requirement and title, and which only one has. A suggestion. */
export function besidePage({ left, right, asked, problem, lines, kind, page }: BesidePage): View {
  const home = path('stigs', left.slug, 'beside');
  const name = shortTitle(left.title);
  const query = { with: asked, kind };
  const chosen = kind === '' ? lines : lines.filter((each) => each.kind === kind);
  const part = { page, limit: linesPerPage };
  return {
    title: right === null ? `${name} beside another` : `${name} beside ${shortTitle(right.title)}`,
    section: 'stigs',
    crumbs: [
      ['STIGs', '/stigs'],
      [name, path('stigs', left.slug)],
    ],
    heading: 'Two STIGs side by side',
    actions:
      right === null ? undefined : (
        <a class="button quiet" href={link(`${home}/file`, { with: asked })} download>
          Download CSV
        </a>
      ),
    body: (
      <>
        <Filters action={home} submit="Compare">
          <Input name="with" label={`${name} ${left.version} and`} value={asked} maxlength={200} required />
          <Select
            name="kind"
            label="Show"
            none="all rules"
            of={likenesses.map((each) => [each, kindNames[each]])}
            selected={kind}
          />
        </Filters>
        {problem === null ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {right === null ? null : (
          <>
            <p>
              First <b>{name}</b> {left.version}, second <StigLink of={right} /> {right.version}. This is a
              suggestion of Gapstone, by SRG requirement and the words of the titles; the publisher says
              nothing of the kind.
            </p>
            <Facts
              of={likenesses.map((each) => [
                kindNames[each],
                lines.filter(({ kind: of }) => of === each).length,
              ])}
            />
            <Table
              caption="Rules side by side"
              class="rules"
              head={['First', 'Second', 'Likeness', 'SRG requirement']}
              rows={slice(chosen, part).map((line) => [
                <Side rule={line.left} of={left} />,
                <Side rule={line.right} of={right} />,
                kindNames[line.kind],
                line.srgId,
              ])}
              pages={{
                pagination: paginationOf(part, chosen.length),
                href: (number) => link(home, { ...query, page: number }),
              }}
            >
              No rule matches this filter.
            </Table>
          </>
        )}
      </>
    ),
  };
}

function Side({ rule, of }: { rule: Rule | null; of: Named }): Child {
  if (rule === null) return null;
  return (
    <>
      <Severity level={rule.severity} /> <Ids of={[rule.groupId, rule.ruleVersion]} />{' '}
      <a href={ruleHref(of.slug, rule, '')}>{rule.ruleTitle}</a>
    </>
  );
}

/** The columns of the csv, in which a rule that one alone has leaves the cells of the other empty. */
export function besideColumns(left: Named, right: Named): Column<Beside>[] {
  const sideOf = (name: 'left' | 'right', stig: Named): Column<Beside>[] => {
    const of = (field: keyof Rule) => (line: Beside) => line[name]?.[field] ?? '';
    const column = (field: string, value: (line: Beside) => string) => ({
      name: `${name}${field}`,
      value: (line: Beside) => (line[name] === null ? '' : value(line)),
    });
    return [
      column('Slug', () => stig.slug),
      column('Version', () => stig.version),
      column('GroupId', of('groupId')),
      column('RuleVersion', of('ruleVersion')),
      column('Severity', of('severity')),
      column('RuleTitle', of('ruleTitle')),
    ];
  };
  return [
    { name: 'likeness', value: ({ kind }) => kindNames[kind] },
    { name: 'srgId', value: ({ srgId }) => srgId },
    ...sideOf('left', left),
    ...sideOf('right', right),
  ];
}
