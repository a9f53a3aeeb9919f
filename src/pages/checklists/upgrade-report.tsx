import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { Leftover, NotCarried as NotCarriedItem, Upgrade } from '../../checklists/schema.ts';
import { reviewOfUpgrade } from '../../checklists/upgrade-several.ts';
import { Empty, path, shortTitle } from '../parts/components.tsx';
import { createMarker } from '../parts/diff-text.tsx';
import type { View } from '../parts/view.ts';
import { Answer, type AskedReview, Review } from './review-table.tsx';
import { toolPath, toolView, type UpgradeForm, type UploadTool } from './upgrade-form.tsx';

/** The report on an upgrade: each rule, and what was not carried over. */
export function upgradedPage(page: {
  upgrade: Upgrade;
  tool: UploadTool;
  form: UpgradeForm;
  review: AskedReview;
  /** Whether the checklist named its STIG, because the reader selected none. */
  isNamed: boolean;
  id: string;
}): View {
  const { upgrade, tool, form, review, isNamed, id } = page;
  const { report } = upgrade;
  const { from, to, summary } = report;
  return toolView({
    tool,
    title: 'Upgraded checklist',
    heading: `${shortTitle(to.title)}: ${from.version ?? from.releaseInfo} to ${to.version}`,
    body: (
      <>
        <p class="lead">
          <a href={path('stigs', to.slug)}>{to.title}</a>
          {isNamed ? ', the STIG named in the checklist' : ''}. {count(summary.removed, 'removed rule')}.
        </p>
        {report.warnings.map((warning) => (
          <p class="warning">{warning}.</p>
        ))}
        <Review
          to={toolPath(tool, id)}
          rows={reviewOfUpgrade(upgrade)}
          asked={review}
          fields={{ ...form }}
          submit="Download upgraded checklist"
          marker={createMarker()}
        />
        <NotCarried notCarried={report.notCarried} />
        {report.otherStigs.length === 0 ? null : (
          <p>
            The other STIGs in the checklist are unchanged:{' '}
            {report.otherStigs.map((stig) => stig.title).join(', ')}.
          </p>
        )}
      </>
    ),
  });
}

/** The content of an old checklist that the new one does not contain. */
export function NotCarried({ notCarried }: { notCarried: NotCarriedItem[] }): Child {
  if (notCarried.length === 0)
    return <Empty>The new checklist has a place for everything in the old one.</Empty>;
  return (
    <details class="more" open>
      <summary>Not carried over: {count(notCarried.length, 'item')}</summary>
      <ul class="results">
        {notCarried.map((each) =>
          each.kind === 'rule' ? (
            <li>
              <span class="ids">{each.groupId}</span> {each.ruleTitle}{' '}
              <span class="quiet">({each.reason})</span>
              {each.answered ? <Answer answer={each.answer} /> : null}
            </li>
          ) : null,
        )}
        {[...kindsOf(notCarried)].map(([kind, [first, ...others]]) =>
          others.length === 0 ? (
            <LeftField field={first} />
          ) : (
            <li>
              <details>
                <summary>
                  <span class="mono">{kind}</span>, {others.length + 1} times: {first.reason}
                </summary>
                <ul class="results">
                  {[first, ...others].map((each) => (
                    <LeftField field={each} />
                  ))}
                </ul>
              </details>
            </li>
          ),
        )}
      </ul>
    </details>
  );
}

/** Groups the fields that were not carried over by name and reason: tools write the same ones into every rule. */
function kindsOf(notCarried: NotCarriedItem[]): Map<string, [Leftover, ...Leftover[]]> {
  const fields = notCarried.filter((each) => each.kind === 'field');
  const nameOf = ({ path }: Leftover) => path.replace(/^.*\[\d+\][./]/, '');
  return Map.groupBy(fields, nameOf) as Map<string, [Leftover, ...Leftover[]]>;
}

function LeftField({ field: { path, place = path, reason, value } }: { field: Leftover }): Child {
  return (
    <li>
      {place}: {reason}
      <p class="prose">{typeof value === 'string' ? value : JSON.stringify(value)}</p>
    </li>
  );
}
