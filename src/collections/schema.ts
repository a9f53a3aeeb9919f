import { z } from '@hono/zod-openapi';
import { hasAtMost, isVisible, isVisibleLine } from '../base/text.ts';
import { textList } from '../http/arrays.ts';
import { changeBody, flag, format, notAnObject, requestText } from '../http/schema.ts';

/** The limits of rule D8.2 on what a creator may set of a list or collection. */
const name = requestText('name', Number.MAX_SAFE_INTEGER)
  .transform((text) => text.trim())
  .refine((text) => text !== '' && hasAtMost(text, 200), { error: 'name must have 1 to 200 characters' })
  .refine(isVisibleLine, { error: 'name must be one line, with a character that can be seen' })
  .openapi({ type: 'string', minLength: 1, maxLength: 200, example: 'Web servers' });

const description = requestText('description', 2000);

const tags = textList('tags', 'texts', { characters: 50, most: 20 })
  .refine((all) => all.every(isVisible), { error: 'tags must each have a character that can be seen' })
  .refine((all) => new Set(all.map((each) => each.trim())).size === all.length, {
    error: 'tags must differ from each other',
  });

const colorForm = { error: 'color must be #RRGGBB, or "" for none' };

/** `""`, which answers have where no color was selected, is accepted back; null is not. */
const color = z
  .string(colorForm)
  .regex(/^(#[0-9A-Fa-f]{6})?$/, colorForm)
  .openapi({ description: '`""` means none.', example: '#2a6fdb' });

const icon = requestText('icon', 50).openapi({ description: '`""` means none.', example: 'server' });

const visibility = z
  .string({ error: 'visibility must be PRIVATE or SHARED' })
  .transform((text) => text.toUpperCase())
  .pipe(z.enum(['PRIVATE', 'SHARED'], { error: 'visibility must be PRIVATE or SHARED' }))
  .openapi({ type: 'string', enum: ['PRIVATE', 'SHARED'], description: 'Case is ignored.' });

const collectionFields = { name, description, tags, color, visibility };
const listFields = { ...collectionFields, icon };

const created = {
  name,
  description: description.default(''),
  tags: tags.default([]),
  color: color.default(''),
  visibility: visibility.default('PRIVATE'),
};

/** Bodies of POST and PATCH. Other fields are ignored, so that none can set what the server owns. */
export const createListBody = z.object({ ...created, icon: icon.default('') }, notAnObject);
export const changeListBody = changeBody(listFields);
export const createCollectionBody = z.object(created, notAnObject);
export const changeCollectionBody = changeBody(collectionFields);

export const answeredFields = {
  id: z.uuid(),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  color: z.string().openapi({ description: '`""` when there is none.' }),
};
export const answeredTimes = { createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() };
export const Visibility = z.enum(['PRIVATE', 'SHARED']).openapi('Visibility');

export const exportQuery = z.object({ format: format(['json', 'csv', 'xlsx']), raw: flag('raw') });

// Any text is accepted: an unknown id of any form gets the one 404.
export const idParam = z.object({ id: z.string().openapi({ format: 'uuid' }) });

/** The highest position that a creator may set; what is appended follows it. */
export const maxPosition = 2 ** 31 - 1;

export const notes = requestText('notes', 4000);

/** The most STIGs or controls that one request adds or removes (rule D2.6). */
export const mostAtOnce = 5000;

export const slugsBody = z.object(
  {
    slugs: textList('slugs', 'slugs', { characters: 1000, least: 1, most: mostAtOnce }).openapi({
      example: ['harbor_linux_3'],
    }),
  },
  notAnObject,
);

const success = z.literal(true);
const added = <T extends z.ZodType>(of: T) => {
  const description = 'What was skipped because it is not in the catalog. Absent when nothing was skipped.';
  const notFound = z.array(of).optional().openapi({ description });
  return z.strictObject({ success, added: z.int(), total: z.int(), notFound });
};

export const StigsAdded = added(z.string()).openapi('StigsAdded');
export type StigsAdded = z.infer<typeof StigsAdded>;

const control = z.strictObject({ controlId: z.string(), framework: z.string() });
export const ControlsAdded = added(control).openapi('ControlsAdded');
export type ControlsAdded = z.infer<typeof ControlsAdded>;

export const Removed = z.strictObject({ success, removed: z.int() }).openapi('Removed');
export type Removed = z.infer<typeof Removed>;
