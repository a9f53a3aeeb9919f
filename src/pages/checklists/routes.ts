import type { Context, Hono } from 'hono';
import { viewerKey } from '../../auth/viewer.ts';
import { fileHeaders, fileTypes } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import { ownLists } from '../parts/list-frame.tsx';
import type { PageSupport } from '../parts/page.ts';
import { referencesPage } from './references.tsx';
import { hostsToolPage, presets, toolPage, toolPath, type UploadTool, uploadTools } from './upgrade-form.tsx';
import type { UploadWork } from './uploads.ts';

/** The forms for checklists, scan results and texts that cite ids. */
export function upgradePages(
  app: Hono<Env>,
  { guard, show, frame, send }: PageSupport,
  { stigs, lists, uploads }: Pick<Services, 'stigs' | 'lists'> & { uploads: UploadWork },
): void {
  const choices = () =>
    stigs
      .list({ page: 1, limit: Number.MAX_SAFE_INTEGER })
      .stigs.map(({ slug, title, version }) => ({ slug, title, version }));

  app.get('/checklists', guard.user, (c) => c.redirect(toolPath('upgrade')));

  for (const tool of uploadTools)
    app.get(toolPath(tool), guard.user, (c) => {
      const form = { ...presets, slug: c.req.query('slug') ?? '' };
      return show(c, toolPage({ tool, form, stigs: choices(), problem: null }));
    });

  app.get(toolPath('hosts'), guard.user, (c) => show(c, hostsToolPage(ownLists(c, lists))));

  const named = (c: Context<Env>) => ({ id: c.req.query('upload'), owner: viewerKey(c.get('user')) });
  const guarded = guard.upload((c) => uploads.storedSize(named(c)));

  /** Reads the form of an upload in a thread: the answer is a page or a file, or the form again with a problem. */
  async function answered(c: Context<Env>, tool: UploadTool | 'references'): Promise<Response> {
    const upload = {
      tool,
      stigs: tool === 'references' ? [] : choices(),
      bytes: c.get('upload'),
      type: c.req.header('Content-Type') ?? '',
      frame: frame(c),
      ...named(c),
    };
    const { bytes, file, status } = await uploads.ofForm(upload, c.get('record'));
    if (file === null) return send(c, bytes, status);
    return c.body(bytes, 200, {
      'Content-Type': fileTypes[file.type],
      'Content-Length': String(bytes.byteLength),
      ...fileHeaders(c.get('banner'), file.name),
      'Cache-Control': 'private, no-store',
    });
  }

  for (const tool of uploadTools) app.post(toolPath(tool), guarded, (c) => answered(c, tool));

  app.get('/references', guard.user, (c) => show(c, referencesPage({ text: '', problem: null })));

  app.post('/references', guarded, (c) => answered(c, 'references'));
}
