import type { Context, Hono } from 'hono';
import { fileHeaders } from '../../answer.ts';
import type { createChecklistUpgrade } from '../../checklists/upgrade.ts';
import type { Env, Form } from '../../env.ts';
import { AppError, badRequest } from '../../errors.ts';
import { upgradeBody } from '../../schemas/checklist-upgrade.ts';
import type { StigService } from '../../services/stigs.ts';
import { emptyUpgrade, type UpgradeForm, upgradedPage, upgradePage } from '../../web/upgrade.tsx';
import { maxChecklist } from '../checklists.ts';
import { check, type Kit } from './kit.ts';

/** Upgrading a checklist with a form. Nothing is stored: the page with the report brings the file back for the download. */
export function upgradePages(
  app: Hono<Env>,
  { guard, show }: Kit,
  stigs: StigService,
  upgrade: ReturnType<typeof createChecklistUpgrade>,
): void {
  function again(c: Context<Env>, form: UpgradeForm, problem: string | null): Response {
    const { stigs: all } = stigs.list({ page: 1, limit: Number.MAX_SAFE_INTEGER });
    return show(c, upgradePage({ form, stigs: all, problem }), problem === null ? 200 : 400);
  }

  app.get('/upgrade', guard.user, (c) =>
    again(c, { ...emptyUpgrade, slug: c.req.query('slug') ?? '' }, null),
  );

  app.post('/upgrade', guard.upload, (c) => {
    const form = c.get('form');
    const typed: UpgradeForm = {
      slug: form.get('slug'),
      version: form.get('version').trim(),
      hostName: form.get('hostName').trim(),
      onChange: form.get('onChange') || 'keep',
    };
    try {
      const bytes = checklistOf(form);
      const { checklist, report } = upgrade(
        check(upgradeBody, {
          slug: typed.slug,
          checklist: textOf(bytes),
          onChange: typed.onChange,
          ...(typed.version === '' ? {} : { version: typed.version }),
          ...(typed.hostName === '' ? {} : { hostName: typed.hostName }),
        }),
      );
      if (form.get('as') !== 'file')
        return show(c, upgradedPage({ report, form: typed, checklist: bytes.toString('base64') }));
      return c.body(JSON.stringify(checklist), 200, {
        'Content-Type': 'application/json',
        ...fileHeaders(c.get('banner'), `U_${report.to.benchmarkId}_${report.to.version}.cklb`),
        'Cache-Control': 'private, no-store',
      });
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== 'BAD_REQUEST' && error.code !== 'NOT_FOUND'))
        throw error;
      return again(c, typed, error.message);
    }
  });
}

/** The bytes of the checklist: of the file that was chosen, or as the page with the report brings them back. */
function checklistOf(form: Form): Buffer {
  const file = form.file('file');
  const bytes = Buffer.from(file?.bytes ?? Buffer.from(form.get('checklist'), 'base64'));
  if (bytes.length === 0) throw badRequest('Choose a checklist, a .ckl or .cklb file');
  if (bytes.length > maxChecklist)
    throw new AppError('PAYLOAD_TOO_LARGE', `The checklist is larger than ${maxChecklist} bytes`);
  return bytes;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badRequest('The checklist is not valid UTF-8');
  }
}
