import { z } from '@hono/zod-openapi';
import type { User } from '../auth/viewer.ts';
import { textOrTexts } from './arrays.ts';
import { requestText } from './schema.ts';

/** The pinned entries of a list that narrows an answer about current releases (rule D35.2). */
export const Pinned = z.array(z.strictObject({ slug: z.string(), version: z.string() })).openapi({
  description:
    'With `list`: its entries that are pinned to a release. The rules here are those of the newest releases.',
});
export type Pinned = z.infer<typeof Pinned>;

/** The filters `stig` and `list` (rule D35.3): a malformed one is a 400, one that names what is not there a 404. */
export const stigFilter = textOrTexts('stig', 1000)
  .refine((names) => names.every((name) => name.trim() !== ''), { error: 'stig must not be empty' })
  .optional();
const listId = /^[\w-]+$/;
export const listFilter = requestText('list', 100)
  .refine((text) => listId.test(text), { error: 'list must be the id of a list' })
  .optional()
  .openapi({ pattern: listId.source });

/** What a filter asks of a list. Both throw NOT_FOUND for a list that the user may not see. */
export interface FilterLists {
  slugs(user: User, list: string, field: string): string[];
  pinned(user: User, list: string, field: string): Pinned;
}
