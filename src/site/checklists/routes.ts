import type { Hono } from 'hono';
import { fileHeaders, fileTypes } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import type { PageSupport } from '../parts/page.ts';
import { emptyUpgrade, noFiles, upgradePage } from './upgrade-form.tsx';
import { RefusedUpload, type WorkOnUpload } from './uploads.ts';

/** The forms for checklists and scan results. The server stores nothing: a download sends the files again. */
export function upgradePages(
  app: Hono<Env>,
  { guard, show, frame, send }: PageSupport,
  { stigs, workOnUpload }: Pick<Services, 'stigs'> & { workOnUpload: WorkOnUpload },
): void {
  const choices = () =>
    stigs
      .list({ page: 1, limit: Number.MAX_SAFE_INTEGER })
      .stigs.map(({ slug, title, version }) => ({ slug, title, version }));

  app.get('/upgrade', guard.user, (c) => {
    const form = { ...emptyUpgrade, slug: c.req.query('slug') ?? '' };
    return show(c, upgradePage({ form, stigs: choices(), problem: null, files: noFiles }));
  });

  app.post('/upgrade', guard.upload, async (c) => {
    const type = c.req.header('Content-Type') ?? '';
    try {
      const bytesSent = c.get('upload');
      const upload = { from: 'page', bytes: bytesSent, type, frame: frame(c), stigs: choices() } as const;
      const { bytes, file } = await workOnUpload(upload, c.get('record'));
      if (file === null) return send(c, bytes);
      return c.body(bytes, 200, {
        'Content-Type': fileTypes[file.type],
        'Content-Length': String(bytes.byteLength),
        ...fileHeaders(c.get('banner'), file.name),
        'Cache-Control': 'private, no-store',
      });
    } catch (error) {
      if (!(error instanceof RefusedUpload) || error.page === null) throw error;
      return send(c, error.page, false, 400);
    }
  });
}
