import { randomUUID } from 'node:crypto';
import type { Context } from '../../src/app/context.ts';
import { createAudit } from '../../src/audit/audited-action.ts';
import { type AuditStream, silentAudit } from '../../src/audit/stream.ts';
import { silentLog } from '../../src/base/log.ts';
import type { Database } from '../../src/db/database.ts';
import { createQueue, createUploadQueues, unlimited } from '../../src/http/limits.ts';
import { createObserver } from '../../src/http/record.ts';
import { createUploads } from '../../src/pages/checklists/uploads.ts';
import { askInline } from '../../src/work/jobs.ts';

/** What a test says of its application: the rest is without limits, silent and not kept. */
export type Given = Partial<Omit<Context, 'audit' | 'catalog' | 'users'>> & { audit?: AuditStream };

/** The context of an application over one database. */
export function testContext(db: Database, { audit = silentAudit, ...given }: Given = {}): Context {
  const { log = silentLog } = given;
  return {
    catalog: db,
    users: db,
    audit: createAudit(audit, db),
    log,
    now: () => new Date(),
    newId: randomUUID,
    verify: () => Promise.reject(new Error('nobody')),
    keyId: () => '',
    state: { draining: false },
    observer: createObserver(log),
    metrics: null,
    cache: null,
    limiter: unlimited,
    queue: createQueue(),
    uploadQueue: createUploadQueues(),
    rejected: () => undefined,
    uploads: createUploads(log),
    askWith: (services) => askInline(db, services),
    cronSecret: null,
    secureCookies: false,
    certificates: null,
    organization: null,
    sessionIdle: 15,
    selfTokens: true,
    maxBody: 1024 * 1024,
    corsOrigins: [],
    host: '127.0.0.1',
    publicUrl: null,
    mcp: true,
    plants: true,
    banner: null,
    inbox: null,
    ...given,
  };
}
