import type { Form } from '../http/env.ts';
import type { CollectionForm } from './html/collection-form.tsx';

/** What a creator typed, as it was typed: to be checked, or shown again with what is wrong. */
export function collectionForm(form: Form, withIcon: boolean): CollectionForm {
  return {
    name: form.get('name'),
    description: lines(form.get('description')),
    tags: form.get('tags'),
    color: form.get('color').trim(),
    ...(withIcon ? { icon: form.get('icon') } : {}),
    visibility: form.get('visibility'),
  };
}

/** The body that the API takes of the same. */
export function collectionBody(form: CollectionForm): Record<string, unknown> {
  return { ...form, tags: items(form.tags, ',') };
}

/** The form of what there is already. */
export function formOf(collection: {
  name: string;
  description: string;
  tags: string[];
  color: string;
  icon?: string;
  visibility: string;
}): CollectionForm {
  const { name, description, tags, color, icon, visibility } = collection;
  return {
    name,
    description,
    tags: tags.join(', '),
    color,
    ...(icon === undefined ? {} : { icon }),
    visibility: visibility.toUpperCase(),
  };
}

/** The texts between separators, without blanks around them and without empty ones. */
export function items(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** A text of several lines as it is kept: browsers send CR LF. */
export function lines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
