import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Ask } from '../../base/ask.ts';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import { catalogPage, loadedCatalogs } from '../../catalog/controls/jobs.ts';
import { type ListedControl, query80053, query800171, queryDod8500 } from '../../catalog/controls/schema.ts';
import type { Env } from '../../http/env.ts';
import { paging } from '../../http/schema.ts';
import { beginning, Downloads, link, path, Table } from '../parts/components.tsx';
import { Boxes, FindForm, Select } from '../parts/forms.tsx';
import { catalogHref, controlHref, frameworkName } from '../parts/links.tsx';
import { listing } from '../parts/listing.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { baselineName } from '../parts/reports/framework-choice.tsx';

/** How a catalog is filtered, and how its page names it and its entries. */
interface CatalogKind {
  schema: z.ZodObject;
  /** Filters by words: the name of the parameter, its label, the words. */
  words?: [name: string, legend: string, words: string[]][];
  title?: string;
  one?: 'control' | 'CCI';
  /** The texts in which the search looks. */
  searched?: string;
  /** The labels of the columns. */
  text?: string;
  family?: string;
  marks?: string;
}

const anyKind: CatalogKind = { schema: query80053 };
const kinds: Record<string, CatalogKind> = {
  'nist-800-53': { schema: query80053, marks: 'Baselines' },
  'nist-800-171': {
    schema: query800171,
    words: [['type', 'Type', ['basic', 'derived']]],
    searched: 'ID or statement',
    marks: 'Type',
  },
  'dod-8500': {
    schema: queryDod8500,
    words: [
      ['mac', 'MAC level', ['MAC I', 'MAC II', 'MAC III']],
      ['impact', 'Impact', ['Low', 'Medium', 'High']],
    ],
    family: 'Subject area',
    marks: 'MAC levels and impact',
  },
  cci: {
    schema: query80053.omit({ baseline: true }),
    title: 'Control Correlation Identifiers (CCIs)',
    one: 'CCI',
    searched: 'ID or definition',
    text: 'Definition',
    family: 'Type',
  },
};

type Filter = Partial<Record<'search' | 'family' | 'version', string>> &
  Record<string, Set<string> | string | undefined>;

/** The pages of control catalogs and of CCIs. `frameworkOf` reads a framework of an address. */
export function catalogPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  ask: Ask,
  frameworkOf: (text: string) => string,
): void {
  app.get('/controls', guard.visitor, async (c) => {
    const catalogs = await ask(loadedCatalogs);
    const isAny = catalogs.some(({ total }) => total > 0);
    const body = (
      <>
        <p class="lead">
          The NIST and DoD control catalogs and DISA’s CCIs. The crosswalk maps them to each other.
        </p>
        <Table
          caption="Catalogs"
          head={['Catalog', 'Version', 'Controls', 'Other versions']}
          rows={(isAny ? catalogs : []).map(({ framework, version, total, otherVersions }) => [
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
    );
    return show(c, { title: 'Controls', section: 'controls', body });
  });

  async function catalog(c: Context<Env>, framework: string): Promise<Response> {
    const kind = kinds[framework] ?? anyKind;
    const { words = [], one = 'control', searched = 'ID, title or statement' } = kind;
    const name = frameworkName(framework);
    const many = `${one}s`;
    const home = catalogHref(framework);
    const part = readQuery(c, z.object(paging(100, 100)));
    const query = readQuery(c, kind.schema) as Filter;
    const { search, family, version } = query;
    const setOf = (name: string) => query[name] as Set<string> | undefined;
    const filter = { search, family, version, baseline: setOf('baseline'), ...part };
    const found = await ask(catalogPage, framework, { ...filter, words: words.map(([each]) => setOf(each)) });
    const { versions, families, baselines, controls, pagination } = found;
    const titles = new Map(baselines.map((each) => [each.name, baselineName(each)]));
    const boxes =
      titles.size === 0 ? words : [['baseline', 'Baseline', [...titles.keys()]] as const, ...words];
    const selected = Object.fromEntries(boxes.map(([each]) => [each, [...(setOf(each) ?? [])]]));
    const hasCatalog = found.version !== '';
    const label = versions.find((each) => each.version === found.version)?.label ?? found.version;
    return show(c, {
      title: kind.title ?? `${name} controls`,
      section: 'controls',
      crumbs: [['Controls', '/controls']],
      heading: kind.title ?? name,
      actions: hasCatalog ? (
        <Downloads
          of={`${path('controls', framework)}/export`}
          formats={['oscal', 'csv', 'xlsx']}
          version={version ?? ''}
        />
      ) : undefined,
      body: listing({
        filters: (
          <FindForm action={home} label={`${searched} contains`} search={search ?? ''}>
            {families.length > 1 && framework !== 'cci' ? (
              <Select
                name="family"
                label={kind.family ?? 'Family'}
                none="all"
                of={families}
                selected={families.find((each) => each.toLowerCase() === family?.toLowerCase()) ?? ''}
              />
            ) : null}
            {boxes.map(([each, legend, of]) => (
              <Boxes
                name={each}
                legend={legend}
                of={of}
                selected={selected[each]!}
                show={(word) => (each === 'baseline' ? titles.get(word) : word)}
              />
            ))}
            {versions.length > 1 ? (
              <Select
                name="version"
                label="Version"
                of={versions.map((each) => [each.version, each.label])}
                selected={found.version}
              />
            ) : null}
          </FindForm>
        ),
        summary: `${count(pagination.total, one, many)}${hasCatalog ? ` of ${label}` : ''}`,
        caption: framework === 'cci' ? 'CCIs' : `Controls of ${name}`,
        columns: [
          [
            one === 'CCI' ? one : 'Control',
            ({ identifier }) => (
              <a class="ids" href={link(controlHref(framework, identifier), { version })}>
                {identifier}
              </a>
            ),
          ],
          [
            kind.text ?? 'Title and statement',
            // Some catalogs have the id as the title of what has none.
            ({ identifier, title, statement }) => (
              <>
                {title && title !== identifier ? <strong>{title}</strong> : null}{' '}
                <span class="quiet">{beginning(statement, 180)}</span>
              </>
            ),
          ],
          [kind.family ?? 'Family', (control) => control.family ?? control.subjectArea ?? ''],
          kind.marks !== undefined && [kind.marks, (control) => <Marks control={control} />],
        ],
        rows: controls,
        home,
        query: { search, family, version, ...selected },
        pagination,
        empty: hasCatalog ? (
          <>
            No {many} match these filters. <a href={home}>Show all</a>
          </>
        ) : (
          `No ${many} yet. Import the publisher’s own files with ${programName} import PATH.`
        ),
      }),
    });
  }

  app.get('/controls/:framework', guard.visitor, (c) => catalog(c, frameworkOf(c.req.param('framework'))));
  app.get('/ccis', guard.visitor, (c) => catalog(c, 'cci'));
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
