import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { Pagination } from '../../http/schema.ts';
import { controlHref, frameworkName } from './frameworks.ts';
import { beginning, Empty, link, Nothing, Pager, path, Table } from './parts.tsx';
import type { View } from './view.ts';

/** A control of any catalog as its list has it. */
export interface ListedControl {
  identifier: string;
  title?: string;
  family?: string;
  subjectArea?: string;
  statement: string;
  baselines?: string[];
  requirementType?: string | null;
  macLevels?: string[];
  impactCode?: string | null;
}

/** The control catalogs that are loaded. */
export function controlsPage({
  catalogs,
}: {
  catalogs: { framework: string; version: string; total: number; versions: string[] }[];
}): View {
  const any = catalogs.some((catalog) => catalog.total > 0);
  return {
    title: 'Controls',
    section: 'controls',
    body: (
      <>
        <h1>Controls</h1>
        <p class="lead">
          The NIST and DoD control catalogs and DISA’s CCIs. The crosswalk maps them to each other.
        </p>
        {any ? (
          <Table
            caption="Catalogs"
            head={['Catalog', 'Version', 'Controls', 'Other versions']}
            rows={catalogs.map(({ framework, version, total, versions }) => [
              <a href={framework === 'cci' ? '/ccis' : path('controls', framework)}>
                {frameworkName(framework)}
              </a>,
              version,
              total.toLocaleString('en-US'),
              versions.filter((each) => each !== version).join(', ') || <span class="quiet">none</span>,
            ])}
          />
        ) : (
          <Empty>
            No control catalogs yet. <code>gapstone start</code> loads the published facts;{' '}
            <code>gapstone import PATH</code> adds the publishers’ own files.
          </Empty>
        )}
      </>
    ),
  };
}

/** The filter of a catalog beyond search and family: its name, its words, those that are selected. */
export interface WordFilter {
  name: string;
  legend: string;
  words: readonly string[];
  selected: string[];
}

export interface CatalogPage {
  framework: string;
  version: string;
  versions: string[];
  controls: ListedControl[];
  pagination: Pagination;
  families: string[];
  filter: { search: string; family: string; version: string };
  words: WordFilter[];
}

const marksNames: Record<string, string> = {
  'nist-800-53': 'Baselines',
  'nist-800-171': 'Type',
  'dod-8500': 'MAC levels and impact',
};

/** What a page calls a catalog and its entries: the CCI list holds no controls. */
function wordsOf(framework: string) {
  const name = frameworkName(framework);
  if (framework === 'cci')
    return {
      title: 'Control Correlation Identifiers (CCIs)',
      heading: 'Control Correlation Identifiers (CCIs)',
      holds: 'ID or definition contains',
      one: 'CCI',
      many: 'CCIs',
      caption: 'CCIs',
      head: ['CCI', 'Definition', 'Type'],
    };
  return {
    title: `${name} controls`,
    heading: name,
    holds: framework === 'nist-800-171' ? 'ID or statement contains' : 'ID, title or statement contains',
    one: 'control',
    many: 'controls',
    caption: `Controls of ${name}`,
    head: [
      'Control',
      'Title and statement',
      framework === 'dod-8500' ? 'Subject area' : 'Family',
      marksNames[framework] ?? '',
    ],
  };
}

/** One catalog with its filters. */
export function catalogControlsPage(page: CatalogPage): View {
  const { framework, version, versions, controls, pagination, families, filter, words } = page;
  const called = wordsOf(framework);
  const home = framework === 'cci' ? '/ccis' : path('controls', framework);
  const selected = Object.fromEntries(words.map((each) => [each.name, each.selected]));
  const href = (number: number) => link(home, { ...filter, ...selected, page: number });
  return {
    title: called.title,
    section: 'controls',
    body: (
      <>
        <p class="crumbs">
          <a href="/controls">Controls</a>
        </p>
        <h1>{called.heading}</h1>
        <form class="filters" action={home}>
          <div>
            <label for="search">{called.holds}</label>
            <input id="search" name="search" type="search" value={filter.search} maxlength={200} />
          </div>
          {families.length > 1 && framework !== 'cci' ? (
            <div>
              <label for="family">{framework === 'dod-8500' ? 'Subject area' : 'Family'}</label>
              <select id="family" name="family">
                <option value="">all</option>
                {families.map((family) => (
                  <option value={family} selected={family.toLowerCase() === filter.family.toLowerCase()}>
                    {family}
                  </option>
                ))}
              </select>
            </div>
          ) : null}
          {words.map((each) => (
            <fieldset>
              <legend>{each.legend}</legend>
              {each.words.map((word) => (
                <label>
                  <input
                    type="checkbox"
                    name={each.name}
                    value={word}
                    checked={each.selected.includes(word)}
                  />
                  {word}
                </label>
              ))}
            </fieldset>
          ))}
          {versions.length > 1 ? (
            <div>
              <label for="version">Version</label>
              <select id="version" name="version">
                {versions.map((each) => (
                  <option value={each} selected={each === version}>
                    {each}
                  </option>
                ))}
              </select>
            </div>
          ) : null}
          <div>
            <button type="submit">Apply filters</button>
          </div>
        </form>
        <p class="quiet">
          {count(pagination.total, called.one, called.many)}
          {version === '' ? '' : ` of ${version}`}
        </p>
        {controls.length === 0 ? (
          <Nothing pagination={pagination} href={href}>
            {version === '' ? (
              `No ${called.many} yet. Import the publisher’s own files with gapstone import PATH.`
            ) : (
              <>
                No {called.many} match these filters. <a href={home}>Show all</a>
              </>
            )}
          </Nothing>
        ) : (
          <Table
            caption={called.caption}
            head={called.head}
            rows={controls.map((control) => [
              <a href={link(controlHref(framework, control.identifier)!, { version: filter.version })}>
                {control.identifier}
              </a>,
              <Title control={control} />,
              control.family ?? control.subjectArea ?? '',
              ...(framework === 'cci' ? [] : [<Marks control={control} />]),
            ])}
          />
        )}
        <Pager pagination={pagination} href={href} />
      </>
    ),
  };
}

function Title({ control: { title, statement } }: { control: ListedControl }): Child {
  return (
    <>
      {title ? <strong>{title}</strong> : null} <span class="quiet">{beginning(statement, 180)}</span>
    </>
  );
}

/** Baselines, type, MAC levels and impact, as far as the catalog has them. */
export function Marks({ control }: { control: ListedControl }): Child {
  const marks = [
    ...(control.baselines ?? []),
    ...(control.requirementType ? [control.requirementType] : []),
    ...(control.macLevels ?? []),
    ...(control.impactCode ? [`${control.impactCode} impact`] : []),
  ];
  return marks.map((mark) => <span class="tag">{mark}</span>);
}
