import type { Child } from 'hono/jsx';
import { count } from '../../../base/text.ts';
import { methodNames } from '../../../catalog/controls/schema.ts';
import { objectsOf } from '../../../catalog/crosswalk/reports.ts';
import type { Worksheet, WorksheetControl } from '../../../catalog/crosswalk/reports-schema.ts';
import { reportFormats } from '../../../catalog/crosswalk/reports-schema.ts';
import { paginationOf, slice } from '../../../http/paging.ts';
import { Automation } from '../checked-by.tsx';
import { Downloads, Empty, link, Pager, ReadAgain, Table } from '../components.tsx';
import { Filters, Hidden, Select } from '../forms.tsx';
import { controlHref, frameworkName } from '../framework-links.ts';
import { listView, partPath, type ShownList } from '../list-frame.tsx';
import { ruleHref } from '../rule-links.tsx';
import { pinnedOf, type ShownStig, stigPath, stigView } from '../stig-frame.tsx';
import type { View } from '../view.ts';
import { type FrameworkChoices, FrameworkSelects } from './framework-choice.tsx';

export interface ShownWorksheet {
  worksheet: Worksheet;
  family: string;
  page: number;
  /** For paper: more on a page. */
  isPrint: boolean;
  choices: FrameworkChoices & { families: string[] };
  readAgain: string[];
}

/** Controls of a page, and rules of an objective: a page for paper has more of both, and files have all. */
const most = { screen: { controls: 8, rules: 5 }, paper: { controls: 40, rules: 25 } };

/** The worksheet of a list. */
export function listWorksheetPage({ list, isOwn, ...shown }: ShownList & ShownWorksheet): View {
  const home = partPath(list.id, 'worksheet');
  return listView({
    ...{ list, isOwn, part: 'worksheet' },
    actions: <Files shown={shown} home={home} version="" />,
    body: <Body shown={shown} home={home} version="" />,
  });
}

/** The worksheet of a release of a STIG. */
export function stigWorksheetPage({ stig, ...shown }: ShownWorksheet & { stig: ShownStig }): View {
  const placed = { shown, home: stigPath(stig.slug, 'worksheet'), version: pinnedOf(stig) };
  return stigView({
    stig,
    part: 'worksheet',
    keep: Object.fromEntries(Object.entries(queryOf(shown)).filter(([, text]) => text !== '')),
    actions: <Files {...placed} />,
    body: <Body {...placed} />,
  });
}

interface Placed {
  shown: ShownWorksheet;
  home: string;
  version: string;
}

const queryOf = ({ worksheet: { framework, revision, baseline } }: ShownWorksheet) => ({
  framework,
  revision: revision ?? '',
  baseline: baseline ?? '',
});

function Files({ shown, home, version }: Placed): Child {
  const { family } = shown;
  return (
    <>
      <Downloads of={home} formats={reportFormats} version={version} query={queryOf(shown)} />
      <a
        class="button quiet"
        href={link(home, { ...queryOf(shown), version, family, print: shown.isPrint ? '' : 'true' })}
      >
        {shown.isPrint ? 'Screen view' : 'Print view'}
      </a>
    </>
  );
}

function Body({ shown, home, version }: Placed): Child {
  const { worksheet, family, choices, isPrint, page } = shown;
  const { controls, totals, framework, revision } = worksheet;
  const part = { page, limit: most[isPrint ? 'paper' : 'screen'].controls };
  const onPage = slice(controls, part);
  const href = (next: number) =>
    link(home, { ...queryOf(shown), version, family, print: isPrint ? 'true' : '', page: next });
  return (
    <>
      <Filters action={home}>
        {version === '' ? null : <Hidden fields={{ version }} />}
        <FrameworkSelects choices={choices} chosen={worksheet} />
        <Select name="family" label="Family" of={choices.families} selected={family} />
      </Filters>
      {totals.objectives === 0 ? <ReadAgain of={shown.readAgain} /> : null}
      <p>
        {count(totals.controls, 'control')} of this family, {count(totals.objectives, 'objective')},{' '}
        {totals.objectivesWithRules.toLocaleString('en-US')} with rules as evidence.
      </p>
      {totals.controls > 0 && totals.objectives === 0 ? (
        <p class="warning">
          The catalog has no objectives of {frameworkName(framework)} {revision}. Import the publisher’s own
          file: the OSCAL catalog of SP 800-53 has those of SP 800-53A.
        </p>
      ) : null}
      {onPage.length === 0 ? (
        <Empty>No control of this family is in the selection.</Empty>
      ) : (
        onPage.map((control) => <Control of={control} framework={framework} isPrint={isPrint} />)
      )}
      <Pager pagination={paginationOf(part, controls.length)} href={href} />
    </>
  );
}

function Control(props: { of: WorksheetControl; framework: string; isPrint: boolean }): Child {
  const { of: control, framework, isPrint } = props;
  const { identifier, title, objectives } = control;
  const mostRules = most[isPrint ? 'paper' : 'screen'].rules;
  return (
    <section>
      <h2>
        <a href={controlHref(framework, identifier)}>{identifier}</a> {title}
      </h2>
      {objectives.length === 0 ? null : (
        <Table
          caption={`Objectives of ${identifier}`}
          class="objectives"
          head={['Objective', 'What to show', 'Evidence', 'Result']}
          rows={objectives.map(({ id, label, context, text, rules }) => [
            <span class="ids">{label || id}</span>,
            <>
              {context === '' ? null : <span class="quiet">{context} </span>}
              {text}
            </>,
            <>
              {rules.slice(0, mostRules).map((rule) => (
                <p>
                  <a href={ruleHref(rule.slug, rule)}>{rule.groupId}</a>{' '}
                  <Automation state={rule.automation} />
                </p>
              ))}
              {rules.length <= mostRules ? null : (
                <p class="quiet">and {count(rules.length - mostRules, 'other rule')}</p>
              )}
            </>,
            '',
          ])}
        />
      )}
      {methodNames.map((method) => {
        const objects = objectsOf(control, method);
        return objects.length === 0 ? null : (
          <p>
            <strong>{method.charAt(0) + method.slice(1).toLowerCase()}:</strong> {objects.join('; ')}
          </p>
        );
      })}
    </section>
  );
}
