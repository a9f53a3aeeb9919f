import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import { routePath } from 'hono/route';
import { LRUCache } from 'lru-cache';
import { type ActorType, type AuditEvent, shownName } from '../audit/event.ts';
import type { AuditStream } from '../audit/stream.ts';
import type { Trail } from '../audit/trail.ts';
import { sessionCookie } from '../auth/sessions.ts';
import type { Viewer } from '../auth/viewer.ts';
import { statusOf } from '../base/errors.ts';
import type { Env } from './env.ts';
import type { Rule } from './rule.ts';

const hour = 3600 * 1000;
const maxRemembered = 10_000;

/**
 * A rule whose calls leave one event each: its success inside the transaction that does it or, where nothing is
 * written, before the answer goes out; its refusal with the code. A 401 is no deed: `auditCallers` tells of those.
 */
export function audited(trail: Trail, rule: Rule, action: string): Rule & { 'x-audit': string } {
  const middleware: MiddlewareHandler<Env> = (c, next) => {
    c.set('toldEachTime', true);
    const deed = () => deedOf(c, rule, action);
    return trail.run(deed, async (step) => {
      await next();
      c.set('audited', true);
      const { status } = c.res;
      if (status === 401 || (status < 400 && step.written())) return;
      if (status < 400) {
        try {
          await trail.audit.tell({ ...deed(), outcome: 'success', reason: null });
        } catch (error) {
          // The answer that was made must not go out, nor its headers with the refusal.
          c.res = undefined;
          throw error;
        }
        return;
      }
      // While nothing can be written, the stream itself counts what it refused.
      if (status === 503 && trail.audit.stats().failing) return;
      const outcome = status === 403 ? 'denied' : 'failure';
      const event: AuditEvent = { ...deed(), outcome, reason: codeOf(status) };
      if (step.written()) trail.audit.note(event);
      else trail.audit.refused(event);
    });
  };
  return { ...rule, 'x-audit': action, middleware: [middleware, ...rule.middleware] };
}

function deedOf(c: Context<Env>, rule: Rule, action: string): Omit<AuditEvent, 'outcome' | 'reason'> {
  const stig = c.req.param('stigSlug');
  const name = c.req.param('id') ?? c.get('chosen');
  const isCron = rule['x-access'] === 'cron';
  return {
    ...(isCron ? ({ actorType: 'system', actor: 'scheduler', org: null } as const) : actorOf(c)),
    action,
    objectType: action.slice(0, action.indexOf('.')),
    objectId: name === undefined ? null : shownName(name),
    requestId: c.get('requestId') ?? null,
    source: sourceOf(c),
    detail: stig === undefined ? null : { stigSlug: shownName(stig) },
  };
}

/**
 * Tells of sign-ins and refusals, on all routes: credentials that hold once an hour for each token and address, 401 and
 * 403 (unless the route's own event says it), and a lacking entitlement also where the answer is no refusal.
 */
export function auditCallers(audit: AuditStream, now: () => Date): MiddlewareHandler<Env> {
  const told = new LRUCache<string, number>({ max: maxRemembered });

  /** Whether a sign-in was told of within the hour; if not, it is taken for told now. */
  function isKnown(key: string): boolean {
    const time = now().getTime();
    const last = told.get(key);
    if (last !== undefined && time - last < hour && time >= last) return true;
    told.set(key, time);
    return false;
  }

  return async (c, next) => {
    await next();
    const { status } = c.res;
    const caller = c.get('caller');
    if (caller !== undefined && caller.by !== 'session') {
      const source = sourceOf(c);
      if (!isKnown(`${source} ${keyOf(caller.viewer)}`)) {
        const event = requestEvent(c, 'auth.success', null);
        audit.note({ ...event, outcome: 'success', detail: { by: caller.by } });
      }
    }
    if (status === 401) {
      const shown = c.req.header('Authorization') !== undefined || getCookie(c, sessionCookie) !== undefined;
      audit.refused(requestEvent(c, 'auth.failure', shown ? 'INVALID_CREDENTIALS' : 'NO_CREDENTIALS'));
    } else if (c.get('unentitled')) {
      audit.refused(requestEvent(c, 'entitlement.denied', 'FORBIDDEN'));
    } else if (status === 403 && !c.get('audited')) {
      audit.refused(requestEvent(c, 'access.denied', 'FORBIDDEN'));
    }
  };
}

function requestEvent(c: Context<Env>, action: string, reason: string | null): AuditEvent {
  const path = routePath(c);
  return {
    ...actorOf(c),
    action,
    objectType: 'route',
    objectId: path.endsWith('*') ? null : `${c.req.method} ${path}`,
    outcome: 'denied',
    reason,
    requestId: c.get('requestId') ?? null,
    source: sourceOf(c),
    detail: null,
  };
}

function actorOf(c: Context<Env>): { actorType: ActorType; actor: string | null; org: string | null } {
  const viewer = c.get('caller')?.viewer;
  if (viewer === undefined) return { actorType: 'anonymous', actor: null, org: null };
  const actor = viewer.kind === 'user' ? viewer.subject : viewer.id;
  return { actorType: viewer.kind, actor, org: viewer.organization };
}

/** One text for each token: who it speaks for and when it ends, not the token itself. */
function keyOf(viewer: Viewer): string {
  if (viewer.kind === 'integration') return `integration ${viewer.id}`;
  return JSON.stringify([viewer.subject, viewer.organization, viewer.expiresAt]);
}

/** The address that a request came from, behind trusted proxies too. */
function sourceOf(c: Context<Env>): string {
  return c.get('exchange').remote || 'unknown';
}

function codeOf(status: number): string {
  return Object.entries(statusOf).find(([, each]) => each === status)?.[0] ?? `HTTP_${status}`;
}
