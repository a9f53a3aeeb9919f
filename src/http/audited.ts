import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { routePath } from 'hono/route';
import { LRUCache } from 'lru-cache';
import type { Audit, Step } from '../audit/audited-action.ts';
import { type AuditEvent, shownName } from '../audit/event.ts';
import { sessionCookie } from '../auth/sessions.ts';
import { viewerKey } from '../auth/viewer.ts';
import { type ErrorCode, statusOf } from '../base/errors.ts';
import type { Env } from './env.ts';
import { toAppError } from './error-answers.ts';
import { type Caller, nameOf, type RequestRecord } from './record.ts';

/** The action of an event, as `list.create`; `objectId` gives the object if the path has no parameter `id`. */
export interface Audited {
  action: string;
  objectId?: ((c: Context<Env>) => string | undefined) | undefined;
}

const hour = 3600 * 1000;

export type RequestAudit = ReturnType<typeof createRequestAudit>;

/**
 * Writes the audit events of requests. On every route: valid credentials, once an hour for each token and address, and
 * refusals (401, 403, a lacking entitlement). On an audited route one event for each call: a success inside the
 * transaction of the change, or before the answer is sent where nothing is written; a failure with its code, except a
 * 401.
 */
export function createRequestAudit({ stream, run }: Audit, now: () => Date) {
  const signedIn = new LRUCache<string, number>({ max: 10_000 });

  function signIn(c: Context<Env>, caller: Caller): void {
    const { by, viewer } = caller;
    if (by === 'session' || by === 'cron') return;
    const until = viewer.kind === 'user' ? viewer.expiresAt : null;
    const key = `${c.get('record').remote} ${until} ${viewerKey(viewer)}`;
    const time = now().getTime();
    const last = signedIn.get(key);
    if (last !== undefined && time - last < hour && time >= last) return;
    signedIn.set(key, time);
    stream.note({
      ...routeEvent(c, 'auth.success', null),
      detail: { by: by === 'user' ? 'token' : by },
    });
  }

  function refusals(c: Context<Env>, code: string | null, hasEvent: boolean): void {
    const { unentitled, reason } = c.get('record');
    const refused = (action: string, why: string) => stream.refused(routeEvent(c, action, why));
    if (code === 'UNAUTHORIZED') {
      const tried = c.req.header('Authorization') !== undefined || getCookie(c, sessionCookie) !== undefined;
      refused('auth.failure', reason ?? (tried ? 'INVALID_CREDENTIALS' : 'NO_CREDENTIALS'));
    } else if (unentitled) refused('entitlement.denied', 'FORBIDDEN');
    else if (code === 'FORBIDDEN' && !hasEvent) refused('access.denied', 'FORBIDDEN');
  }

  async function outcome(base: Omit<AuditEvent, 'outcome' | 'reason'>, code: string | null, step: Step) {
    if (code === null) {
      if (!step.written()) await stream.tell({ ...base, outcome: 'success', reason: null });
      return;
    }
    // While the stream cannot write, it counts its refusals itself.
    if (code === 'UNAUTHORIZED' || (code === 'UNAVAILABLE' && stream.stats().failing)) return;
    const event: AuditEvent = { ...base, outcome: code === 'FORBIDDEN' ? 'denied' : 'failure', reason: code };
    if (step.written()) stream.note(event);
    else stream.refused(event);
  }

  return {
    /** Runs `work` and writes its audit events. Throws what `work` throws, and 503 where an event cannot be written. */
    handle(
      c: Context<Env>,
      audited: Audited | undefined,
      work: (record: RequestRecord) => Promise<void>,
    ): Promise<void> {
      const record = c.get('record');
      const worked = async (step?: Step) => {
        let thrown: Error | undefined;
        try {
          await work(record);
        } catch (error) {
          thrown = error as Error;
        }
        const code = record.refused ?? codeOf(c, thrown);
        try {
          if (step) await outcome(actionOf(c, audited!), code, step);
        } catch (error) {
          // The answer must not be sent, nor its headers with the 503.
          c.res = undefined;
          thrown = error as Error;
        }
        if (record.caller !== null) signIn(c, record.caller);
        refusals(c, code, audited !== undefined);
        if (thrown) throw thrown;
      };
      return audited ? run(() => actionOf(c, audited), worked) : worked();
    },
  };
}

function codeOf(c: Context<Env>, thrown: Error | undefined): string | null {
  const error = thrown ?? c.error;
  if (error) return toAppError(error).code;
  const { status } = c.res;
  if (status < 400) return null;
  return (Object.keys(statusOf) as ErrorCode[]).find((code) => statusOf[code] === status) ?? `HTTP_${status}`;
}

function actionOf(c: Context<Env>, { action, objectId }: Audited) {
  const by = c.get('record').caller?.by;
  const stig = c.req.param('stigSlug');
  const name = c.req.param('id') ?? objectId?.(c);
  const way = by === 'certificate' || by === 'organization' ? { by } : null;
  return {
    ...requestOf(c),
    action,
    objectType: action.slice(0, action.indexOf('.')),
    objectId: name === undefined ? null : shownName(name),
    detail: stig === undefined ? way : { stigSlug: shownName(stig) },
  };
}

const routeEvent = (c: Context<Env>, action: string, reason: string | null): AuditEvent => ({
  ...requestOf(c),
  action,
  objectType: 'route',
  objectId: `${c.req.method} ${routePath(c)}`,
  outcome: reason === null ? 'success' : 'denied',
  reason,
  detail: null,
});

/** Who sent a request, and from where. */
function requestOf(c: Context<Env>) {
  const { caller, requestId, remote } = c.get('record');
  return { ...actorOf(caller), requestId, source: remote || 'unknown' };
}

function actorOf(caller: Caller | null): Pick<AuditEvent, 'actorType' | 'actor' | 'org'> {
  if (caller === null) return { actorType: 'anonymous', actor: null, org: null };
  const { viewer } = caller;
  if (viewer === null) return { actorType: 'system', actor: 'scheduler', org: null };
  return { actorType: viewer.kind, actor: nameOf(viewer), org: viewer.organization };
}
