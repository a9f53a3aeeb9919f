import { z } from '@hono/zod-openapi';
import type { User } from '../auth/viewer.ts';

/** The pinned entries of a list that narrows an answer about current releases (rule D35.2). */
export const Pinned = z.array(z.strictObject({ slug: z.string(), version: z.string() })).openapi({
  description:
    'With `list`: its entries that are pinned to a release. The rules here are those of the newest releases.',
});
export type Pinned = z.infer<typeof Pinned>;

/** What a filter asks of a list. Both throw NOT_FOUND for a list that the user may not see. */
export interface FilterLists {
  slugs(user: User, list: string, field: string): string[];
  pinned(user: User, list: string, field: string): Pinned;
}
