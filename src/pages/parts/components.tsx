import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { Pagination } from '../../http/schema.ts';

/** From the highest. */
export const severityLevels = ['high', 'medium', 'low'] as const;

/** By shape and words, because color alone tells some readers nothing. */
const severities = {
  high: { shape: '▲', category: 'CAT I' },
  medium: { shape: '◆', category: 'CAT II' },
  low: { shape: '●', category: 'CAT III' },
} as const;

/** A severity as its category: CAT I, II or III; `number` is how many there are. */
export function Severity({ level, number }: { level: keyof typeof severities; number?: number }) {
  const { shape, category } = severities[level];
  return (
    <span class={`severity ${level}`}>
      <span aria-hidden="true">{shape}</span>{' '}
      {number === undefined ? (
        category
      ) : (
        <span title={category}>
          <span class="hidden">{category}: </span>
          {number.toLocaleString('en-US')}
        </span>
      )}
    </span>
  );
}

export function SeverityCounts({ counts }: { counts: Record<keyof typeof severities, number> }) {
  return severityLevels.map((level) => (
    <>
      <Severity level={level} number={counts[level]} />{' '}
    </>
  ));
}

export const statusSigns = { verified: '✓', auto: '≈', rejected: '✕' } as const;

export function Status({ status }: { status: keyof typeof statusSigns }) {
  return (
    <span class={`status ${status}`}>
      <span aria-hidden="true">{statusSigns[status]}</span> {status}
    </span>
  );
}

/** Identifiers in a row: lines break between them, never within one. */
export function Ids({ of }: { of: readonly string[] }) {
  return of.map((id) => (
    <>
      <span class="ids">{id}</span>{' '}
    </>
  ));
}

/** The CCIs of a rule; those that DISA deprecated say so. */
export function Ccis({ of, deprecated }: { of: readonly string[]; deprecated: readonly string[] }) {
  return of.map((cci) => (
    <>
      <span class="ids">{cci}</span>{' '}
      {deprecated.includes(cci) ? <span class="quiet">deprecated </span> : null}
    </>
  ));
}

/** A text, or its beginning with an ellipsis. */
export function beginning(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length).trimEnd()} …` : text;
}

export function Day({ date }: { date: string | null }) {
  return date === null ? <span class="quiet">no date</span> : <time datetime={date}>{date}</time>;
}

/** A time in UTC, to the minute. */
export function Moment({ at }: { at: string }) {
  return <time datetime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`}</time>;
}

/** The address of a page with a query; without empty values. */
export function link(
  path: string,
  query: Record<string, string | number | string[] | undefined> = {},
): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []]
      .flat()
      .filter((each) => each !== '')
      .map((each) => [name, String(each)]),
  );
  const text = new URLSearchParams(pairs as [string, string][]).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** A title of a STIG for a place where many stand below each other; the whole one belongs in `title` there. */
export function shortTitle(title: string): string {
  const stig = title.search(/ (?:Security Technical Implementation Guide|STIG)\b/);
  const short = stig < 0 ? title : title.slice(0, stig);
  const srg = short.search(/ Security Requirements Guide\b/);
  return srg < 0 ? short : `${short.slice(0, srg)} SRG`;
}

/** The link to a STIG by its short title. */
export function StigLink({
  of: { slug, title },
  version = '',
}: {
  of: { slug: string; title: string };
  version?: string;
}) {
  return (
    <a href={link(path('stigs', slug), { version })} title={title}>
      {shortTitle(title)}
    </a>
  );
}

/** The title of a STIG; a link while the catalog has it. */
export function NamedStig({ of, isGone }: { of: { slug: string; title: string }; isGone: boolean }) {
  if (!isGone) return <StigLink of={of} />;
  return (
    <>
      {of.title} <span class="quiet">(no longer in the catalog)</span>
    </>
  );
}

/** A path whose segments come from data. */
export function path(...segments: string[]): string {
  return `/${segments.map(encodeURIComponent).join('/')}`;
}

interface Pages {
  pagination: Pagination;
  href: (page: number) => string;
}

interface SortHead {
  label: string;
  sort: string;
}

/** The order of a listing, and its address in another order. */
interface Sorting {
  sort: string | undefined;
  href: (sort: string) => string;
}

interface TableProps {
  caption: string;
  head: (string | SortHead)[];
  sorting?: Sorting | undefined;
  rows: Child[][];
  headColumn?: number | undefined;
  class?: string | undefined;
  pages?: Pages | undefined;
  /** Shown instead of a table without rows. */
  children?: Child;
}

/** How a cell is set: numbers to the right, short words in one line; a link alone needs no line under it. */
function kindOf(cell: Child): 'number' | 'link' | 'short' | undefined {
  if (typeof cell === 'number') return 'number';
  if (cell !== null && typeof cell === 'object' && 'tag' in cell)
    return cell.tag === 'a' || cell.tag === StigLink ? 'link' : undefined;
  return typeof cell === 'string' && cell.length > 0 && cell.length <= 16 ? 'short' : undefined;
}

const shownCell = (cell: Child): Child => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell);

/** A table with links to its other pages, or `children` when it is empty. */
export function Table({ pages, children, ...table }: TableProps) {
  const isShown = table.rows.length > 0 || children === undefined;
  return (
    <>
      {isShown ? <Rows {...table} /> : <Nothing pages={pages}>{children}</Nothing>}
      {pages === undefined ? null : <Pager {...pages} />}
    </>
  );
}

/** CSS turns each row into a card on narrow screens; the roles keep the table's meaning there. */
function Rows({ caption, head, sorting, rows, headColumn = 0, class: name = '' }: TableProps) {
  const labels = head.map((each) => (typeof each === 'string' ? each : each.label));
  const numbers = head.map((_, index) => rows.some((cells) => typeof cells[index] === 'number'));
  return (
    // biome-ignore-start lint/a11y/noRedundantRoles: `display` takes a table its meaning where it becomes cards
    <table class={`cards ${sorting === undefined ? '' : 'sortable '}${name}`} role="table">
      <caption class="hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {head.map((each, index) =>
            typeof each === 'string' || sorting === undefined ? (
              <th scope="col" role="columnheader" class={numbers[index] ? 'number' : undefined}>
                {labels[index]}
              </th>
            ) : (
              <SortedBy of={each} sorting={sorting} isNumber={numbers[index]!} />
            ),
          )}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((cells) => (
          <tr role="row">
            {cells.map((cell, index) =>
              index === headColumn ? (
                <th scope="row" role="rowheader" data-label={labels[index]} class={kindOf(cell)}>
                  {cell}
                </th>
              ) : (
                <td role="cell" data-label={labels[index]} class={kindOf(cell)}>
                  {shownCell(cell)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
    // biome-ignore-end lint/a11y/noRedundantRoles: see above
  );
}

function SortedBy(props: { of: SortHead; sorting: Sorting; isNumber: boolean }) {
  const { of, sorting, isNumber } = props;
  const { label, sort } = of;
  const isUp = sorting.sort === sort;
  const isDown = sorting.sort === `-${sort}`;
  return (
    <th
      scope="col"
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : undefined}
      class={isNumber ? 'sort number' : 'sort'}
    >
      <a href={sorting.href(isUp ? `-${sort}` : sort)}>
        {label}
        <span aria-hidden="true">{isUp ? ' ▲' : isDown ? ' ▼' : ''}</span>
      </a>
    </th>
  );
}

/** Numbers with labels in one line, and links where a page shows what they count. */
export function Totals({ of }: { of: [number: number, label: Child, href?: string][] }) {
  return (
    <ul class="totals">
      {of.map(([number, label, href]) => {
        const text = (
          <>
            <b>{number.toLocaleString('en-US')}</b> {label}
          </>
        );
        return <li>{href === undefined ? text : <a href={href}>{text}</a>}</li>;
      })}
    </ul>
  );
}

/** Links to the parts of a page or a place; one is the current. */
export function Tabs({ label, of }: { label: string; of: (readonly [Child, string, boolean])[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {of.map(([name, href, isCurrent]) => (
          <li>
            <a href={href} aria-current={isCurrent ? 'page' : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

export function Facts({ of }: { of: [string, Child][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Lines({ of }: { of: string[] }) {
  return (
    <ul>
      {of.map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  );
}

/** Shown when there is nothing, with what to do about it. */
export function Empty({ children }: { children: Child }) {
  return <p class="empty">{children}</p>;
}

/** Shown where a report has nothing to be about. */
export function EmptySystem() {
  return (
    <Empty>
      This list is empty. <a href="/stigs">Browse STIGs</a>
    </Empty>
  );
}

/** Shown for a page without entries: no such page, or no entries at all. */
export function Nothing({ pages, children }: { pages: Pages | undefined; children: Child }) {
  if (pages === undefined || pages.pagination.total === 0) return <Empty>{children}</Empty>;
  return (
    <Empty>
      There is no page {pages.pagination.page}. <a href={pages.href(1)}>Go to the first page</a>
    </Empty>
  );
}

export function Pager({ pagination, href }: Pages) {
  const { page, totalPages, total } = pagination;
  if (totalPages <= 1) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 ? (
        <a rel="prev" href={href(Math.min(page - 1, totalPages))}>
          ← Previous
        </a>
      ) : null}
      <span>
        Page {page} of {totalPages} <span class="quiet">({total.toLocaleString('en-US')} total)</span>
      </span>
      {page < totalPages ? (
        <a rel="next" href={href(page + 1)}>
          Next →
        </a>
      ) : null}
    </nav>
  );
}

/** Links to what is before and after; the children stand between them. */
export function Neighbors(props: {
  label: string;
  before: { id: string; href: string } | null;
  after: { id: string; href: string } | null;
  class?: string;
  children?: Child;
}) {
  const { label, before, after, children } = props;
  return (
    <nav class={`pager ${props.class ?? ''}`} aria-label={label}>
      {before === null ? null : (
        <a rel="prev" href={before.href}>
          ← {before.id}
        </a>
      )}
      {children}
      {after === null ? null : (
        <a rel="next" href={after.href}>
          {after.id} →
        </a>
      )}
    </nav>
  );
}

const formatNames: Record<string, string> = {
  cklb: 'Checklist (.cklb)',
  ckl: 'Checklist (.ckl)',
  json: 'JSON',
  csv: 'CSV',
  xml: 'XML',
  xlsx: 'XLSX',
  oscal: 'OSCAL',
};

/** A button that opens what it holds, over the page. */
export function Menu({ label, children }: { label: Child; children: Child }) {
  return (
    <details class="menu" name="menu">
      <summary class="button quiet">{label}</summary>
      {children}
    </details>
  );
}

/** `of` is an address in the API, `version` a release other than the latest, `query` the filter of the page. */
export function Downloads(props: {
  of: string;
  formats: readonly string[];
  version?: string;
  query?: Record<string, string | string[]>;
  label?: string;
  /** Other files, each an `<li>`. */
  children?: Child;
}) {
  const { of, formats, version, query = {}, label = 'Download', children } = props;
  // In the API a system is a list.
  const api = of.replace(/^\/systems\b/, '/lists');
  const links = formats.map((format) => (
    <li>
      <a class="button" href={link(`/api/v1${api}`, { ...query, format, version })} download>
        {formatNames[format] ?? format}
      </a>
    </li>
  ));
  return (
    <Menu label={label}>
      <ul class="downloads" aria-label={label}>
        {links}
        {children}
      </ul>
    </Menu>
  );
}

/** The color of a list, as a sign beside its name. */
export function Swatch({ color }: { color: string }): Child {
  if (color === '') return null;
  return (
    <svg class="swatch" width="14" height="14" aria-hidden="true">
      <rect width="14" height="14" rx="3" fill={color} />
    </svg>
  );
}

/** Where an older version read less of a file: what to import again (rule D42.9). */
export function ReadAgain({ of }: { of: string[] }): Child {
  if (of.length === 0) return null;
  return (
    <p class="warning">
      An older version did not read all of these files. Import them again: {of.slice(0, 10).join(', ')}
      {of.length > 10 ? ` and ${count(of.length - 10, 'other')}` : ''}
    </p>
  );
}

/** How a rule is checked, by shape and words, because color alone tells some readers nothing. */
const states = {
  automated: { shape: '⚙', name: 'Scan' },
  stale: { shape: '◔', name: 'Older text' },
  manual: { shape: '☞', name: 'By hand' },
  none: { shape: '–', name: 'No SCAP content' },
} as const;

/** The state of automation of a rule (rule D38.2). */
export function Automation({ state }: { state: keyof typeof states }) {
  const { shape, name } = states[state];
  return (
    <span class="checked">
      <span aria-hidden="true">{shape}</span> {name}
    </span>
  );
}

/** The names of the states, for the heads of tables and in sentences. */
export const stateNames = {
  automated: states.automated.name,
  stale: states.stale.name,
  manual: states.manual.name,
  none: states.none.name,
};

/** The page that shows what machines check of a STIG. */
export const automationPath = (slug: string) => path('stigs', slug, 'automation');

/** The collections that the reader may see: pages only read what the command line creates (rule D8.6). */
export function ReadCollections(props: {
  of: 'Documents' | 'Roles';
  api: 'regdoc-collections' | 'role-collections';
  collections: { id: string; name: string; count: number }[];
}): Child {
  const { of, api, collections } = props;
  const things = of.toLowerCase();
  return (
    <>
      <h2>Collections</h2>
      <Table
        caption={`Collections of ${things}`}
        head={['Name', of, 'Download']}
        rows={collections.map(({ id, name, count }) => [
          name,
          count,
          <Downloads of={path(api, id, 'export')} formats={['json', 'csv', 'xml', 'xlsx']} />,
        ])}
      >
        No collections of {things} yet. An administrator creates them on the server with{' '}
        <code>gapstone collection create</code>.
      </Table>
    </>
  );
}
