import { z } from '@hono/zod-openapi';

/** The answer of `/healthz` and `/readyz`: constant, without versions or paths. */
export const Health = z.strictObject({ status: z.enum(['ok', 'ready']) }).openapi('Health');
export type Health = z.infer<typeof Health>;

export const Purged = z.strictObject({ success: z.literal(true), purged: z.int() }).openapi('Purged');
