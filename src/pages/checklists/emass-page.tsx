import type { Child } from 'hono/jsx';
import type { Ask } from '../../base/ask.ts';
import { count } from '../../base/text.ts';
import { emassBody, emassSheet, type MadeSheet } from '../../checklists/emass.ts';
import type { NamedFile } from '../../checklists/upgrade-several.ts';
import { check } from '../../http/schema.ts';
import { beginning, Empty, Facts, Table } from '../parts/components.tsx';
import type { View } from '../parts/view.ts';
import type { Report } from './review-table.tsx';
import { emassTexts, SendAgain, toolView, type UpgradeForm } from './upgrade-form.tsx';

/** The sheet that the form asks for, of its checklists (rule D30.2). Throws a 400. */
export function sheetOf(ask: Ask, files: NamedFile[], form: UpgradeForm): Promise<MadeSheet> {
  const typed = emassTexts.flatMap(({ name }) => (form[name] === '' ? [] : [[name, form[name]]]));
  const checklists = files.map(({ bytes }) => bytes);
  return emassSheet(ask, check(emassBody, { ...Object.fromEntries(typed), checklists, sheet: form.sheet }));
}

const mostRows = 100;
const longest = 80;

/** The sheet before its download: the columns that hold something, and what has no place in it. */
export function emassPage({ made, id, form, files }: Report & { made: MadeSheet; files: number }): View {
  const { header, rows, withoutCci, unknownCcis, sheet, warnings = [] } = made.rows;
  const filled = header.flatMap((name, index) =>
    rows.some((row) => row[index] !== '') ? [{ name, index }] : [],
  );
  return toolView({
    tool: 'emass',
    title: sheet === 'poam' ? 'POA&M for eMASS' : 'Test results for eMASS',
    body: (
      <>
        <Facts
          of={[
            ['Checklists', files],
            ['Rows', rows.length],
            ['Rules without a CCI', withoutCci.length],
            ['CCIs that are not in the catalog', unknownCcis.length],
          ]}
        />
        {warnings.map((warning) => (
          <p class="warning">{warning}.</p>
        ))}
        <SendAgain to="emass" id={id} fields={{ ...form, as: 'file' }} submit="Download sheet" />
        {rows.length === 0 ? (
          <Empty>{sheet === 'poam' ? 'No rule is open.' : 'No rule of these checklists has a CCI.'}</Empty>
        ) : (
          <section class="wide" tabindex={0} aria-label="The sheet">
            <Table
              caption="Rows of the sheet"
              head={filled.map(({ name }) => name)}
              rows={rows.slice(0, mostRows).map((row) => filled.map(({ index }) => cell(row[index]!)))}
            />
          </section>
        )}
        {rows.length > mostRows ? (
          <p class="quiet">{count(rows.length - mostRows, 'more row')} in the sheet.</p>
        ) : null}
        {withoutCci.length === 0 ? null : (
          <details class="more">
            <summary>Not in the sheet: {count(withoutCci.length, 'rule')} without a CCI</summary>
            <Table
              caption="Rules without a CCI"
              head={['Host', 'STIG', 'Rule', 'Status']}
              rows={withoutCci
                .slice(0, mostRows)
                .map(({ host, benchmarkId, ruleId, status }) => [host, benchmarkId, ruleId, status])}
            />
          </details>
        )}
      </>
    ),
  });
}

const cell = (text: string): Child =>
  text.length <= longest ? text : <span title={text.slice(0, 500)}>{beginning(text, longest)}</span>;
