import type { Child } from 'hono/jsx';
import type { CollectionControls, ControlCollection } from '../../collections/control-collections-schema.ts';
import { Downloads, path, Swatch, Table } from '../parts/components.tsx';
import { FieldsForm, Input, PostButton, Select, TextArea } from '../parts/forms.tsx';
import { controlHref, frameworkName } from '../parts/framework-links.ts';
import type { View } from '../parts/view.ts';
import {
  type Adding,
  CollectionFields,
  type CollectionForm,
  DeleteForm,
  FactsOf,
  type Kind,
  Tags,
} from './collection-pages.tsx';

export const collectionKind: Kind = {
  section: 'collections',
  name: 'Collections',
  one: 'collection',
  lead: 'Collections of controls: your own, and those that your organization shares.',
  none: 'No collections yet. Create one below, then add controls from their pages.',
  caption: 'Collections of controls',
  members: 'Controls',
};

export interface CollectionPage {
  collection: Omit<ControlCollection, 'visibility'> & { visibility: string };
  controls: CollectionControls['controls'];
  known: ReadonlySet<CollectionControls['controls'][number]>;
  isOwn: boolean;
  adding: Adding<{ framework: string; controlIds: string; notes: string }>;
}

export function collectionPage({ collection, controls, isOwn, adding, known }: CollectionPage): View {
  const { id, name, description, color, tags } = collection;
  const home = path('collections', id);
  return {
    title: name,
    section: 'systems',
    crumbs: [['Collections', '/collections']],
    heading: (
      <>
        <Swatch color={color} />
        {name}
      </>
    ),
    actions: (
      <>
        <Downloads of={path('control-collections', id, 'export')} formats={['json', 'csv', 'xlsx']} />
        {isOwn ? (
          <a class="button quiet" href={`${home}/edit`}>
            Edit
          </a>
        ) : null}
      </>
    ),
    body: (
      <>
        {description === '' ? null : <p class="lead prose">{description}</p>}
        <Tags tags={tags} />
        <FactsOf shown={collection} isOwn={isOwn} first={['Controls', collection.controlCount]} />
        <AddControls home={home} adding={adding} />
        <Table
          caption={`Controls of ${name}`}
          head={['Control', 'Title', 'Family', 'Notes', ...(isOwn ? ['Actions'] : [])]}
          rows={controls.map((control) => [
            <NamedControl of={control} isGone={!known.has(control)} />,
            control.title,
            control.family,
            control.notes === '' ? '' : <span class="prose">{control.notes}</span>,
            ...(isOwn ? [<RemoveControl home={home} of={control} />] : []),
          ])}
        >
          This collection is empty. <a href="/controls">Browse controls</a>
        </Table>
        {isOwn ? <DeleteForm action={`${home}/delete`} what="collection" /> : null}
      </>
    ),
  };
}

function RemoveControl(props: {
  home: string;
  of: { framework: string; identifier: string; notes: string };
}): Child {
  const { framework, identifier, notes } = props.of;
  const fields = { framework, controlId: identifier };
  return (
    <PostButton
      action={`${props.home}/controls/remove`}
      label="Remove"
      about={identifier}
      fields={fields}
      loses={notes === '' ? null : 'Its note'}
    />
  );
}

/** The form that changes a collection. */
export function editCollectionPage(id: string, form: CollectionForm, problem: string | null): View {
  const home = path('collections', id);
  return {
    title: 'Edit collection',
    section: 'systems',
    crumbs: [
      ['Collections', '/collections'],
      [form.name, home],
    ],
    body: <CollectionFields action={`${home}/edit`} form={form} problem={problem} submit="Save" />,
  };
}

/** A control with its catalog; a link while the catalog has it. */
export function NamedControl(props: {
  of: { framework: string; identifier: string };
  isGone: boolean;
}): Child {
  const { of, isGone } = props;
  const catalog = frameworkName(of.framework);
  return (
    <>
      {isGone ? of.identifier : <a href={controlHref(of.framework, of.identifier)}>{of.identifier}</a>}{' '}
      <span class="quiet">{isGone ? `${catalog} (no longer in the catalog)` : catalog}</span>
    </>
  );
}

function AddControls({ home, adding }: { home: string; adding: CollectionPage['adding'] }): Child {
  return (
    <details class="more" open={adding.problem !== null}>
      <summary>Add controls by ID</summary>
      <FieldsForm action={`${home}/controls`} problem={adding.problem} submit="Add controls">
        <Select
          name="framework"
          label="Catalog"
          of={['nist-800-53', 'nist-800-171', 'dod-8500'].map((each) => [each, frameworkName(each)])}
          selected={adding.framework}
        />
        <TextArea
          name="controlIds"
          label="Controls"
          text={adding.controlIds}
          class="mono"
          required
          hint="One per line, such as AC-2(1) or 3.1.1"
        />
        <Input name="notes" label="Notes for these controls" value={adding.notes} maxlength={4000} />
      </FieldsForm>
    </details>
  );
}
