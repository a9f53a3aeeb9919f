import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import type { LoadedCatalog } from '../../catalog/controls/queries.ts';
import type { ListedControl } from '../../catalog/controls/schema.ts';
import type { Pagination } from '../../http/schema.ts';
import { beginning, Downloads, link, path, Table } from '../parts/components.tsx';
import { Boxes, FindForm, Select } from '../parts/forms.tsx';
import { catalogHref, controlHref, frameworkName } from '../parts/framework-links.ts';
import type { View } from '../parts/view.ts';

/** The page of the loaded control catalogs. */
export function controlsPage({ catalogs }: { catalogs: LoadedCatalog[] }): View {
  const any = catalogs.some((catalog) => catalog.total > 0);
  return {
    title: 'Controls',
    section: 'controls',
    body: (
      <>
        <p class="lead">
          The NIST and DoD control catalogs and DISA’s CCIs. The crosswalk maps them to each other.
        </p>
        <Table
          caption="Catalogs"
          head={['Catalog', 'Version', 'Controls', 'Other versions']}
          rows={(any ? catalogs : []).map(({ framework, version, total, otherVersions }) => [
            <a href={catalogHref(framework)}>{frameworkName(framework)}</a>,
            version,
            total,
            otherVersions.join(', ') || <span class="quiet">none</span>,
          ])}
        >
          No control catalogs yet. <code>gapstone start</code> loads the published facts;{' '}
          <code>{programName} import PATH</code> adds the publishers’ own files.
        </Table>
      </>
    ),
  };
}

export interface WordFilter {
  name: string;
  legend: string;
  words: readonly string[];
  selected: string[];
  show?: (word: string) => string;
}

export interface CatalogPage {
  framework: string;
  version: string;
  versions: { version: string; label: string }[];
  controls: ListedControl[];
  pagination: Pagination;
  families: string[];
  filter: { search: string; family: string; version: string };
  words: WordFilter[];
}

/** How a page names a catalog and its entries: the CCI list contains no controls. */
function wordsOf(framework: string) {
  const name = frameworkName(framework);
  const ofControls = {
    title: `${name} controls`,
    heading: name,
    holds: 'ID, title or statement contains',
    one: 'control',
    many: 'controls',
    caption: `Controls of ${name}`,
    family: 'Family',
  };
  const head = ['Control', 'Title and statement'];
  if (framework === 'nist-800-53') return { ...ofControls, head: [...head, 'Family', 'Baselines'] };
  if (framework === 'nist-800-171')
    return { ...ofControls, holds: 'ID or statement contains', head: [...head, 'Family', 'Type'] };
  if (framework === 'dod-8500') {
    const family = 'Subject area';
    return { ...ofControls, family, head: [...head, family, 'MAC levels and impact'] };
  }
  if (framework !== 'cci') return { ...ofControls, head: [...head, 'Family'] };
  return {
    title: 'Control Correlation Identifiers (CCIs)',
    heading: 'Control Correlation Identifiers (CCIs)',
    holds: 'ID or definition contains',
    one: 'CCI',
    many: 'CCIs',
    caption: 'CCIs',
    family: 'Type',
    head: ['CCI', 'Definition', 'Type'],
  };
}

/** One catalog with its filters. */
export function catalogControlsPage(page: CatalogPage): View {
  const { framework, version, versions, controls, pagination, families, filter, words } = page;
  const called = wordsOf(framework);
  const home = catalogHref(framework);
  const selected = Object.fromEntries(words.map((each) => [each.name, each.selected]));
  const href = (number: number) => link(home, { ...filter, ...selected, page: number });
  return {
    title: called.title,
    section: 'controls',
    crumbs: [['Controls', '/controls']],
    heading: called.heading,
    actions:
      version === '' ? undefined : (
        <Downloads
          of={`${path('controls', framework)}/export`}
          formats={['oscal', 'csv', 'xlsx']}
          version={filter.version}
        />
      ),
    body: (
      <>
        <FindForm action={home} label={called.holds} search={filter.search}>
          {families.length > 1 && framework !== 'cci' ? (
            <Select
              name="family"
              label={called.family}
              none="all"
              of={families}
              selected={families.find((each) => each.toLowerCase() === filter.family.toLowerCase()) ?? ''}
            />
          ) : null}
          {words.map(({ name, legend, words, ...each }) => (
            <Boxes name={name} legend={legend} of={words} {...each} />
          ))}
          {versions.length > 1 ? (
            <Select
              name="version"
              label="Version"
              of={versions.map((each) => [each.version, each.label])}
              selected={version}
            />
          ) : null}
        </FindForm>
        <p class="quiet">
          {count(pagination.total, called.one, called.many)}
          {version === '' ? '' : ` of ${versions.find((each) => each.version === version)?.label ?? version}`}
        </p>
        <Table
          caption={called.caption}
          head={called.head}
          rows={controls.map((control) => [
            <a
              class="ids"
              href={link(controlHref(framework, control.identifier), { version: filter.version })}
            >
              {control.identifier}
            </a>,
            <Title control={control} />,
            control.family ?? control.subjectArea ?? '',
            ...(called.head.length > 3 ? [<Marks control={control} />] : []),
          ])}
          pages={{ pagination, href }}
        >
          {version === '' ? (
            `No ${called.many} yet. Import the publisher’s own files with ${programName} import PATH.`
          ) : (
            <>
              No {called.many} match these filters. <a href={home}>Show all</a>
            </>
          )}
        </Table>
      </>
    ),
  };
}

/** Some catalogs have the id as the title of what has none. */
function Title({ control: { identifier, title, statement } }: { control: ListedControl }): Child {
  return (
    <>
      {title && title !== identifier ? <strong>{title}</strong> : null}{' '}
      <span class="quiet">{beginning(statement, 180)}</span>
    </>
  );
}

/** Baselines, type, MAC levels and impact, where the catalog has them. */
export function Marks({ control }: { control: ListedControl }): Child {
  const marks = [
    ...(control.baselines ?? []),
    ...(control.requirementType ? [control.requirementType] : []),
    ...(control.macLevels ?? []),
    ...(control.impactCode ? [`${control.impactCode} impact`] : []),
  ];
  return marks.map((mark) => <span class="tag">{mark}</span>);
}
