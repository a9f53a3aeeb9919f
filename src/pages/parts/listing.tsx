import type { Child } from 'hono/jsx';
import type { Pagination } from '../../http/schema.ts';
import { link, Table } from './components.tsx';

/** A column: its label, the cell of a row, and the name of its order where a reader may sort by it; false hides it. */
export type Column<Row> = [label: string, cell: (row: Row) => Child, sort?: string] | false;

interface Listing<Row> {
  caption: string;
  /** The form that filters the listing. */
  filters?: Child;
  /** A line above the table, such as the number of rows. */
  summary?: Child;
  columns: Column<Row>[];
  rows: Row[];
  /** Shown instead of a table without rows. */
  empty?: Child;
  /** The address of the listing and its query, for links to other pages and orders. */
  home?: string;
  query?: Record<string, string | number | string[] | undefined>;
  /** The order of the rows, where a reader may choose it. */
  sort?: string | undefined;
  pagination?: Pagination;
  /** The part of the page that links lead to, such as `#rules`. */
  anchor?: string;
  headColumn?: number;
  class?: string;
}

/** A listing: its filters, a table of rows, or why it is empty, and links to its other pages. */
export function listing<Row>(of: Listing<Row>): Child {
  const { home = '', query = {}, anchor = '', pagination, filters, summary, rows, empty } = of;
  const columns = of.columns.filter((each) => each !== false);
  const href = (change: { sort?: string; page?: number }) =>
    `${link(home, { ...query, ...change })}${anchor}`;
  const isSortable = columns.some(([, , sort]) => sort !== undefined);
  return (
    <>
      {filters}
      {summary === undefined ? null : <p class="quiet">{summary}</p>}
      <Table
        caption={of.caption}
        class={of.class}
        headColumn={of.headColumn}
        head={columns.map(([label, , sort]) => (sort === undefined ? label : { label, sort }))}
        sorting={isSortable ? { sort: of.sort, href: (sort) => href({ sort }) } : undefined}
        rows={rows.map((row) => columns.map(([, cell]) => cell(row)))}
        pages={pagination && { pagination, href: (page) => href({ page }) }}
      >
        {empty}
      </Table>
    </>
  );
}
