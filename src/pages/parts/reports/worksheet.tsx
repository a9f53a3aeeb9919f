import type { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Ask } from '../../../base/ask.ts';
import { count } from '../../../base/text.ts';
import { methodNames } from '../../../catalog/controls/schema.ts';
import { objectsOf, worksheetOf } from '../../../catalog/crosswalk/reports.ts';
import {
  reportFormats,
  type Worksheet,
  type WorksheetControl,
  worksheetQuery,
} from '../../../catalog/crosswalk/reports-schema.ts';
import type { Env } from '../../../http/env.ts';
import { paginationOf, slice } from '../../../http/paging.ts';
import { flag, paging } from '../../../http/schema.ts';
import type { Services } from '../../../services.ts';
import { Automation, Downloads, Empty, link, Pager, ReadAgain, Table } from '../components.tsx';
import { Filters, Hidden, Select } from '../forms.tsx';
import { controlHref, frameworkName, ruleHref } from '../links.tsx';
import { type PageSupport, readQuery } from '../page.ts';
import { choicesOf, FrameworkSelects, ofFramework } from './framework-choice.tsx';
import { reportPages } from './report-place.ts';

const pageQuery = worksheetQuery.extend({ page: paging(1, 1).page, print: flag('print') });

/** Controls of a page, and rules of an objective: a page for paper has more of both, and files have all. */
const most = { screen: { controls: 8, rules: 5 }, paper: { controls: 40, rules: 25 } };

/** The worksheet (rule D37.3) of a system, and of a release of a STIG: one family, as all are too much for a page. */
export function worksheetPages(
  app: Hono<Env>,
  support: PageSupport,
  services: Pick<Services, 'controls' | 'stigs' | 'lists' | 'ledger'> & { ask: Ask },
): void {
  const { ask, controls, ledger } = services;
  reportPages(app, support, services, 'worksheet', async (c, { scope, home, version, view }) => {
    const { page, print: isPrint = false, ...given } = readQuery(c, pageQuery);
    const query = ofFramework(c, given);
    const families = controls.families(query.framework, query.revision);
    const family = (query === given ? query.family : undefined) ?? families[0] ?? '';
    const worksheet = await ask(worksheetOf, scope, { ...query, family });
    const { framework, revision, baseline } = worksheet;
    const choices = choicesOf(controls, framework, revision);
    const own = { framework, revision: revision ?? '', baseline: baseline ?? '' };
    const part = { page, limit: most[isPrint ? 'paper' : 'screen'].controls };
    const onPage = slice(worksheet.controls, part);
    const href = (print: boolean, page?: number) =>
      link(home, { ...own, version, family, print: print ? 'true' : '', page });
    return support.show(
      c,
      view({
        keep: own,
        actions: (
          <>
            <Downloads of={home} formats={reportFormats} version={version} query={own} />
            <a class="button quiet" href={href(!isPrint)}>
              {isPrint ? 'Screen view' : 'Print view'}
            </a>
          </>
        ),
        body: (
          <>
            <Filters action={home}>
              <Hidden fields={{ version }} />
              <FrameworkSelects
                choices={{ ...choices, frameworks: choices.frameworks.filter((each) => each !== 'cci') }}
                chosen={worksheet}
              />
              <Select name="family" label="Family" of={families} selected={family} />
            </Filters>
            <Summary of={worksheet} readAgain={ledger.readAgain('controls')} />
            {onPage.length === 0 ? <Empty>No control of this family is in the selection.</Empty> : null}
            {onPage.map((control) => (
              <Control of={control} framework={framework} isPrint={isPrint} />
            ))}
            <Pager
              pagination={paginationOf(part, worksheet.controls.length)}
              href={(number) => href(isPrint, number)}
            />
          </>
        ),
      }),
    );
  });
}

function Summary({ of, readAgain }: { of: Worksheet; readAgain: string[] }): Child {
  const { totals, framework, revision } = of;
  return (
    <>
      {totals.objectives === 0 ? <ReadAgain of={readAgain} /> : null}
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
      {methodNames
        .map((method) => ({ method, objects: objectsOf(control, method) }))
        .filter(({ objects }) => objects.length > 0)
        .map(({ method, objects }) => (
          <p>
            <strong>{method.charAt(0) + method.slice(1).toLowerCase()}:</strong> {objects.join('; ')}
          </p>
        ))}
    </section>
  );
}
