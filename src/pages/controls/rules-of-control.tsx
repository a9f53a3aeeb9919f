import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { ControlRules } from '../../catalog/crosswalk/control-rules-schema.ts';
import {
  Automation,
  Empty,
  Ids,
  link,
  Nothing,
  Pager,
  Severity,
  SeverityCounts,
  StigLink,
} from '../parts/components.tsx';
import { Filters, ListSelect, SeverityBoxes, StigBoxes } from '../parts/forms.tsx';
import { ruleHref } from '../parts/links.tsx';
import { listing } from '../parts/listing.tsx';

export interface RulesFound {
  rules: ControlRules;
  filter: { stig: string[]; list: string; severity: string[] };
  stigs: { slug: string; title: string }[];
  lists: { id: string; name: string }[];
  /** The number of rules that cite a CCI, with the same filters. */
  rulesOfCci(cci: string): number;
}

/** The rules on a control's page; `found` is null without a session, `home` the page's address. */
export function RulesOfControl(props: {
  found: RulesFound | null;
  home: string;
  of: { framework: string; identifier: string };
}): Child {
  const { found, home, of } = props;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">STIG rules</h2>
      {found === null ? (
        <Empty>
          <a href={`/signin?next=${encodeURIComponent(home)}`}>Sign in</a> to see the STIG rules that are
          mapped to it.
        </Empty>
      ) : (
        <Found found={found} home={home} of={of} />
      )}
    </section>
  );
}

function Found({ found, home, of }: { found: RulesFound; home: string; of: Searched }): Child {
  const { rules, filter, stigs, lists } = found;
  const { pagination, counts } = rules;
  const href = (page: number) => `${link(home, { ...filter, rulePage: page })}#rules`;
  const isNarrowed = filter.list !== '' || filter.stig.length > 0 || filter.severity.length > 0;
  return (
    <>
      {stigs.length === 0 ? null : (
        <details class="more" open={isNarrowed}>
          <summary>Filter by list, STIG or severity</summary>
          <Filters action={`${home}#rules`}>
            <ListSelect lists={lists} selected={filter.list} />
            <SeverityBoxes selected={filter.severity} />
            <StigBoxes stigs={stigs} selected={filter.stig} />
          </Filters>
        </details>
      )}
      {rules.stigs.length === 0 ? (
        <Nothing pages={{ pagination, href }}>
          {isNarrowed ? (
            <>
              No rule that is mapped to it matches these filters. <a href={`${home}#rules`}>Clear filters</a>
            </>
          ) : (
            'No rule in a current release is mapped to it through a CCI.'
          )}
        </Nothing>
      ) : (
        <>
          <p class="quiet">
            {count(pagination.total, 'rule')} in current releases, mapped through CCIs:{' '}
            <SeverityCounts counts={counts} /> <SearchThem of={of} filter={filter} />
          </p>
          {rules.stigs.map((stig) => (
            <>
              <h3>
                <StigLink of={stig} />{' '}
                <span class="quiet">
                  {stig.version}, {count(stig.ruleCount, 'rule')}
                </span>
              </h3>
              {listing({
                caption: `Rules of ${stig.title}`,
                class: 'lines',
                headColumn: 2,
                columns: [
                  ['Severity', ({ severity }) => <Severity level={severity} />],
                  ['ID', ({ groupId }) => <span class="ids">{groupId}</span>],
                  [
                    'Rule',
                    (rule) => (
                      <a href={ruleHref(stig.slug, rule)} title={rule.ruleTitle}>
                        {rule.ruleTitle}
                      </a>
                    ),
                  ],
                  stig.rules.some(({ automation }) => automation !== 'none') && [
                    'Checked by',
                    ({ automation }) => <Automation state={automation} />,
                  ],
                  [
                    'Through',
                    ({ paths }) => (
                      <Ids of={[...new Set(paths.map(({ controls }) => controls.at(-1)!.identifier))]} />
                    ),
                  ],
                ],
                rows: stig.rules,
              })}
            </>
          ))}
          <Pager pagination={pagination} href={href} />
        </>
      )}
    </>
  );
}

type Searched = { framework: string; identifier: string };

/** A link to the same rules in the search, where a reader can sort and download them. */
function SearchThem(props: { of: Searched; filter: RulesFound['filter'] }): Child {
  const { of, filter } = props;
  const field = of.framework === 'cci' ? 'cci' : of.framework === 'nist-800-53' ? 'control' : null;
  if (field === null) return null;
  return <a href={link('/search', { ...filter, [field]: of.identifier })}>Sort or download these rules</a>;
}
