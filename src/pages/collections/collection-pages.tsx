import type { Child } from 'hono/jsx';
import type { OverviewSort } from '../../collections/collections.ts';
import type { Pagination } from '../../http/schema.ts';
import { Facts, link, Moment, path, Swatch, Table, Tabs } from '../parts/components.tsx';
import { FieldsForm, Input, Select, TextArea } from '../parts/forms.tsx';
import type { View } from '../parts/view.ts';

export interface Kind {
  section: 'systems' | 'collections';
  name: string;
  one: 'list' | 'collection';
  lead: string;
  none: string;
  caption: string;
  members: string;
}

export interface CollectionForm {
  name: string;
  description: string;
  tags: string;
  color: string;
  visibility: string;
}

/** The fields of a form that adds, and the reason of its refusal. */
export type Adding<T> = T & { problem: string | null };

interface Shown {
  id: string;
  name: string;
  description: string;
  tags: string[];
  color: string;
  visibility: string;
  createdById: string;
  createdByEmail?: string | null;
  createdAt: string;
  updatedAt: string;
  size: number;
}

export const emptyForm: CollectionForm = {
  name: '',
  description: '',
  tags: '',
  color: '',
  visibility: 'PRIVATE',
};

export interface OverviewPage {
  rows: Shown[];
  pagination: Pagination;
  sort: OverviewSort | undefined;
  subject: string;
  form: CollectionForm;
  problem: string | null;
  after?: Child;
}

/** What a reader keeps, in one place. */
export function SavedTabs({ at }: { at: 'systems' | 'collections' | 'favorites' }): Child {
  const tabs = [
    ['systems', 'Lists'],
    ['collections', 'Collections'],
    ['favorites', 'Favorites'],
  ] as const;
  return <Tabs label="Yours" of={tabs.map(([each, label]) => [label, path(each), each === at])} />;
}

/** The lists or collections that the reader may see, and the form for a new one. */
export function overviewPage(kind: Kind, page: OverviewPage): View {
  const { rows, pagination, subject, sort, form, problem, after } = page;
  return {
    title: kind.name,
    section: 'systems',
    body: (
      <>
        <SavedTabs at={kind.section} />
        <p class="lead">{kind.lead}</p>
        <Table
          caption={kind.caption}
          head={[
            { label: 'Name', sort: 'name' },
            { label: kind.members, sort: 'size' },
            'Visibility',
            { label: 'Created by', sort: 'creator' },
            { label: 'Created', sort: 'created' },
          ]}
          sorting={{ sort: sort ?? '-created', href: (by) => link(path(kind.section), { sort: by }) }}
          pages={{ pagination, href: (number) => link(path(kind.section), { sort, page: number }) }}
          rows={rows.map((each) => [
            <>
              <Swatch color={each.color} />
              <a href={path(kind.section, each.id)}>{each.name}</a> <Tags tags={each.tags} />
            </>,
            each.size,
            visibilityOf(each),
            creatorOf(each, each.createdById === subject),
            <Moment at={each.createdAt} />,
          ])}
        >
          {kind.none}
        </Table>
        <h2 id="new">New {kind.one}</h2>
        <CollectionFields
          action={path(kind.section)}
          form={form}
          problem={problem}
          submit={`Create ${kind.one}`}
        />
        {after}
      </>
    ),
  };
}

/** Visibility, creator and dates of a list or collection; `first` precedes them. */
export function FactsOf({
  shown,
  isOwn,
  first,
}: {
  shown: Pick<Shown, 'visibility' | 'createdById' | 'createdByEmail' | 'updatedAt'>;
  isOwn: boolean;
  first?: [string, Child];
}): Child {
  return (
    <Facts
      of={[
        ...(first === undefined ? [] : [first]),
        ['Visibility', visibilityOf(shown)],
        ['Created by', creatorOf(shown, isOwn)],
        ['Updated', <Moment at={shown.updatedAt} />],
      ]}
    />
  );
}

/** The form with the fields that a creator sets (rule D8.2). */
export function CollectionFields(props: {
  action: string;
  form: CollectionForm;
  problem: string | null;
  submit: string;
}): Child {
  const { form, ...others } = props;
  return (
    <FieldsForm {...others}>
      <Input name="name" label="Name" value={form.name} required maxlength={200} />
      <TextArea name="description" label="Description" text={form.description} maxlength={2000} />
      <Select
        name="visibility"
        label="Visibility"
        of={[
          ['PRIVATE', 'Private'],
          ['SHARED', 'Organization'],
        ]}
        selected={form.visibility === 'SHARED' ? 'SHARED' : 'PRIVATE'}
      />
      <Input name="tags" label="Tags" value={form.tags} hint="Separated by commas, at most 20" />
      <Colors chosen={form.color} />
    </FieldsForm>
  );
}

/** Eight colors that differ in both themes. */
const colors: [color: string, name: string][] = [
  ['#2a6fdb', 'Blue'],
  ['#0f8a8a', 'Teal'],
  ['#2f8a3a', 'Green'],
  ['#8a7a00', 'Olive'],
  ['#c2570c', 'Orange'],
  ['#c0303a', 'Red'],
  ['#8a3fc0', 'Purple'],
  ['#6b7480', 'Grey'],
];

/** One of eight colors, none, or the one that a program set. */
function Colors({ chosen }: { chosen: string }): Child {
  const known = chosen === '' || colors.some(([color]) => color === chosen.toLowerCase());
  const of: [string, string][] = [
    ['', 'None'],
    ...colors,
    ...(known ? [] : [[chosen, chosen] as [string, string]]),
  ];
  return (
    <fieldset class="plain">
      <legend class="label">Color</legend>
      {of.map(([color, name]) => (
        <label>
          <input
            type="radio"
            name="color"
            value={color}
            checked={color.toLowerCase() === chosen.toLowerCase()}
          />
          <Swatch color={/^#[0-9a-f]{6}$/i.test(color) ? color : ''} />
          {name}
        </label>
      ))}
    </fieldset>
  );
}

/** Collections store visibility in lower case (rule D8.1), lists in upper case. */
function visibilityOf({ visibility }: Pick<Shown, 'visibility'>): string {
  return visibility.toUpperCase() === 'SHARED' ? 'Organization' : 'Private';
}

function creatorOf(
  { createdByEmail, createdById }: Pick<Shown, 'createdByEmail' | 'createdById'>,
  isOwn: boolean,
): string {
  return isOwn ? 'you' : (createdByEmail ?? createdById);
}

export function Tags({ tags }: { tags: string[] }): Child {
  return tags.map((tag) => <span class="tag">{tag}</span>);
}

/** Asks for confirmation without script: a reader must open the section to see the button. */
export function DeleteForm({ action, what }: { action: string; what: string }): Child {
  return (
    <details class="more">
      <summary>Delete this {what}</summary>
      <form class="actions" method="post" action={action}>
        <button type="submit" class="danger">
          Delete {what}
        </button>
      </form>
    </details>
  );
}
