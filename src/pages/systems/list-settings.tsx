import type { List } from '../../collections/lists-schema.ts';
import {
  CollectionFields,
  type CollectionForm,
  DeleteForm,
  FactsOf,
  Tags,
} from '../collections/collection-pages.tsx';
import { path } from '../parts/components.tsx';
import { PostButton } from '../parts/forms.tsx';
import { listView, partPath, type ShownList } from '../parts/list-frame.tsx';
import type { View } from '../parts/view.ts';

export interface ListSettings extends ShownList<List> {
  /** Null for readers who are not the creator. */
  form: CollectionForm | null;
  problem: string | null;
}

/** The settings of a list: visibility, fields, copy, deletion. */
export function listSettingsPage({ form, problem, ...shown }: ListSettings): View {
  const { list, isOwn } = shown;
  const home = path('systems', list.id);
  return listView({
    ...shown,
    part: 'settings',
    actions: <PostButton action={`${home}/duplicate`} label="Duplicate" />,
    body: (
      <>
        <Tags tags={list.tags} />
        <FactsOf shown={list} isOwn={isOwn} />
        {form === null ? (
          <p class="quiet">Only its creator may change this list. You may duplicate it: the copy is yours.</p>
        ) : (
          <>
            <CollectionFields
              action={partPath(list.id, 'settings')}
              form={form}
              problem={problem}
              submit="Save"
            />
            <DeleteForm action={`${home}/delete`} what="list" />
          </>
        )}
      </>
    ),
  });
}
