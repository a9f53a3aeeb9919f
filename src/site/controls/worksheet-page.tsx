import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { methodNames } from '../../catalog/controls/assessment-record.ts';
import { coverageFormats } from '../../catalog/crosswalk/coverage-schema.ts';
import { objectsOf } from '../../catalog/crosswalk/worksheet.ts';
import type { Worksheet, WorksheetControl } from '../../catalog/crosswalk/worksheet-schema.ts';
import { Automation } from '../parts/checked-by.tsx';
import { Downloads, Empty, link, Pager, Table, Tiles } from '../parts/components.tsx';
import { Filters, Select } from '../parts/forms.tsx';
import { controlHref, frameworkName } from '../parts/framework-links.ts';
import { listView, partPath, type ShownList } from '../parts/list-frame.tsx';
import { ruleHref } from '../parts/rule-links.tsx';
import { pinnedOf, type ShownStig, stigPath, stigView } from '../parts/stig-frame.tsx';
import type { View } from '../parts/view.ts';
import { ReadAgain } from './control-assessment.tsx';

export interface ShownWorksheet {
  worksheet: Worksheet;
  family: string;
  page: number;
  /** All controls of the family with all rules, for paper. */
  isPrint: boolean;
  choices: {
    frameworks: readonly string[];
    revisions: [string, string][];
    baselines: [string, string][];
    families: string[];
  };
  readAgain: string[];
}

const controlsPerPage = 8;
const rulesPerObjective = 5;

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
      <Downloads of={home} formats={coverageFormats} version={version} query={queryOf(shown)} />
      <a
        class="button quiet"
        href={link(home, { ...queryOf(shown), version, family, print: shown.isPrint ? '' : 'true' })}
      >
        {shown.isPrint ? 'Show in pages' : 'Show all of this family to print'}
      </a>
    </>
  );
}

function Body({ shown, home, version }: Placed): Child {
  const { worksheet, family, choices, isPrint, page } = shown;
  const { controls, totals, framework, revision } = worksheet;
  const from = isPrint ? 0 : (page - 1) * controlsPerPage;
  const onPage = isPrint ? controls : controls.slice(from, from + controlsPerPage);
  const href = (next: number) => link(home, { ...queryOf(shown), version, family, page: next });
  const totalPages = isPrint ? 1 : Math.ceil(controls.length / controlsPerPage);
  return (
    <>
      <Filters action={home} submit="Show worksheet">
        {version === '' ? null : <input type="hidden" name="version" value={version} />}
        <Select
          name="framework"
          label="Framework"
          of={choices.frameworks.map((each): [string, string] => [each, frameworkName(each)])}
          selected={framework}
        />
        {choices.revisions.length > 1 ? (
          <Select name="revision" label="Revision" of={choices.revisions} selected={revision ?? ''} />
        ) : null}
        {choices.baselines.length > 0 ? (
          <Select
            name="baseline"
            label="Baseline"
            none="all controls"
            of={choices.baselines}
            selected={worksheet.baseline ?? ''}
          />
        ) : null}
        <Select name="family" label="Family" of={choices.families} selected={family} />
      </Filters>
      {totals.objectives === 0 ? <ReadAgain of={shown.readAgain} /> : null}
      <Tiles
        of={[
          [totals.controls, totals.controls === 1 ? 'control of this family' : 'controls of this family'],
          [totals.objectives, totals.objectives === 1 ? 'objective' : 'objectives'],
          [totals.objectivesWithRules, 'with rules as evidence'],
        ]}
      />
      {totals.controls > 0 && totals.objectives === 0 ? (
        <p class="notice">
          The catalog has no objectives of {frameworkName(framework)} {revision}. Import the publisher’s own
          file: the OSCAL catalog of SP 800-53 has those of SP 800-53A.
        </p>
      ) : null}
      {onPage.length === 0 ? (
        <Empty>No control of this family is in the selection.</Empty>
      ) : (
        onPage.map((control) => <Control of={control} framework={framework} isPrint={isPrint} />)
      )}
      <Pager pagination={{ page, totalPages, total: controls.length, limit: controlsPerPage }} href={href} />
    </>
  );
}

function Control(props: { of: WorksheetControl; framework: string; isPrint: boolean }): Child {
  const { of: control, framework, isPrint } = props;
  const { identifier, title, objectives } = control;
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
          rows={objectives.map(({ id, label, part, context, text, rules }) => [
            <>
              {label || id} {part === '' ? null : <span class="quiet">part {part}</span>}
            </>,
            <>
              {context === '' ? null : <span class="quiet">{context} </span>}
              {text}
            </>,
            <>
              {(isPrint ? rules : rules.slice(0, rulesPerObjective)).map((rule) => (
                <p>
                  <a href={ruleHref(rule.slug, rule)}>{rule.groupId}</a>{' '}
                  <Automation state={rule.automation} />
                </p>
              ))}
              {isPrint || rules.length <= rulesPerObjective ? null : (
                <p class="quiet">and {count(rules.length - rulesPerObjective, 'other rule')}</p>
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
