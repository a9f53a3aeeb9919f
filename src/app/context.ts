import type { Audit } from '../audit/audited-action.ts';
import type { ClientCertificates } from '../auth/certificates.ts';
import type { OrganizationSignIn } from '../auth/organization-sign-in.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import type { Ask } from '../base/ask.ts';
import type { Log } from '../base/log.ts';
import type { Database } from '../db/database.ts';
import type { AnswerCache } from '../http/cache.ts';
import type { Limiter, Queue, Rejected } from '../http/limits.ts';
import type { Observer } from '../http/record.ts';
import type { ServiceState } from '../http/service-api.ts';
import type { Uploads } from '../pages/checklists/uploads.ts';
import type { Services } from '../services.ts';

/** What an application is made of. */
export interface Context {
  catalog: Database;
  users: Database;
  audit: Audit;
  log: Log;
  now: () => Date;
  newId: () => string;
  verify: VerifyUserToken;
  /** The key id of the local issuer: a session ends when this key changes. */
  keyId: () => string;
  state: ServiceState;
  observer: Observer;
  /** Gives the text of `/metrics`; null disables the endpoint. */
  metrics: (() => Promise<string>) | null;
  /** The cache of answers; null disables it. */
  cache: AnswerCache | null;
  /** The rate limits of callers, and the queues of expensive requests: of an upload by its bytes. */
  limiter: Limiter;
  queue: Queue;
  uploadQueue: (bytes: number) => Queue;
  /** Counts a request that the service rejected because a limit was reached. */
  rejected: Rejected;
  /** What runs jobs: query workers, which the caller of `createApp` ends, or this thread over the services. */
  askWith(services: Services): Ask;
  /** Reads uploads in a thread; the caller of `createApp` ends that thread. */
  uploads: Uploads;
  /** The secret of the purge endpoint; null disables the endpoint (rule D8.5). */
  cronSecret: string | null;
  /** Whether cookies are always `Secure`, even on a plain HTTP request. */
  secureCookies: boolean;
  /** The ways to come in beside tokens (rule D43); null where one is not set up. */
  certificates: ClientCertificates | null;
  organization: OrganizationSignIn;
  /** Minutes after which an unused session ends, and whether users may make tokens. */
  sessionIdle: number;
  selfTokens: boolean;
  /** Bytes that a body may have on most routes (D2.3). */
  maxBody: number;
  corsOrigins: readonly string[];
  /** The address that the server listens on, and the origin under which others reach it. */
  host: string;
  publicUrl: string | null;
  /** Whether `/mcp` exists (rule D41.1). */
  mcp: boolean;
  /** Whether the sample endpoint exists (rule D10). */
  plants: boolean;
  /** The import folder, which pages name (rule D33). */
  inbox: string | null;
  banner: string | null;
}
