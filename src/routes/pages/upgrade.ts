import type { Context, Hono } from 'hono';
import { fileHeaders } from '../../answer.ts';
import type { Env } from '../../env.ts';
import type { StigService } from '../../services/stigs.ts';
import { type createUpgrade, RefusedUpload } from '../../uploads/uploads.ts';
import { emptyUpgrade, type UpgradeForm, upgradePage } from '../../web/upgrade.tsx';
import type { Kit } from './kit.ts';

/** Upgrading a checklist with a form. Nothing is stored: the page with the report brings the file back for the download. */
export function upgradePages(
  app: Hono<Env>,
  { guard, show, frame, send }: Kit,
  stigs: StigService,
  upgrade: ReturnType<typeof createUpgrade>,
): void {
  function again(c: Context<Env>, form: UpgradeForm, problem: string | null): Response {
    const { stigs: all } = stigs.list({ page: 1, limit: Number.MAX_SAFE_INTEGER });
    return show(c, upgradePage({ form, stigs: all, problem }), problem === null ? 200 : 400);
  }

  app.get('/upgrade', guard.user, (c) =>
    again(c, { ...emptyUpgrade, slug: c.req.query('slug') ?? '' }, null),
  );

  app.post('/upgrade', guard.upload, async (c) => {
    const type = c.req.header('Content-Type') ?? '';
    try {
      const upload = { from: 'page', bytes: c.get('upload'), type, frame: frame(c) } as const;
      const { bytes, file } = await upgrade(upload, c.get('exchange'));
      if (file === null) return send(c, bytes);
      return c.body(bytes, 200, {
        'Content-Type': 'application/json',
        'Content-Length': String(bytes.byteLength),
        ...fileHeaders(c.get('banner'), file.name),
        'Cache-Control': 'private, no-store',
      });
    } catch (error) {
      const isOfForm = error instanceof RefusedUpload && error.form !== null;
      if (!isOfForm || (error.code !== 'BAD_REQUEST' && error.code !== 'NOT_FOUND')) throw error;
      return again(c, error.form!, error.message);
    }
  });
}
