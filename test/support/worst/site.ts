import type { OpenAPIHono } from '@hono/zod-openapi';
import { createApp } from '../../../src/app/app.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { Cklb } from '../../../src/catalog/stigs/cklb-schema.ts';
import type { Env } from '../../../src/http/env.ts';
import { createUploads } from '../../../src/site/checklists/uploads.ts';
import { signToken, testApp, verifier } from '../app.ts';
import { writeCkl } from '../ckl-writer.ts';
import { testContext } from '../context.ts';
import { shipped } from '../reference.ts';
import { writeResults } from '../results-writer.ts';
import { formsOf, type PageForm } from './forms.ts';
import { pagesOf, type Requested, type SampleFiles, type Samples } from './requests.ts';

const cronSecret = 'cron-secret';
const slug = 'harbor_linux_3';

/** A site to send bad shapes to: with a list, a collection and favorites, so that every form stands on some page. */
export interface WorstSite {
  app: OpenAPIHono<Env>;
  document: Requested;
  samples: Samples;
  files: SampleFiles;
  /** The forms of all its pages. */
  forms: PageForm[];
  /** The headers of who may send a request, by the rule of access of an operation; null for a page. */
  headersFor(access: string | null): Record<string, string>;
  /** Makes the session anew that signing out has ended. */
  signIn(): Promise<void>;
  close(): Promise<void>;
}

/** Makes a site; `plant` adds routes of a test. */
export async function worstSite(
  plant: (app: OpenAPIHono<Env>) => void = () => undefined,
): Promise<WorstSite> {
  const { db, clock } = await testApp([shipped()]);
  const uploads = createUploads(silentLog);
  const verify = verifier(() => clock.now);
  const app = createApp(
    testContext(db, { verify, uploads, cronSecret, now: () => clock.now, metrics: async () => '' }),
  );
  plant(app);
  const bearer = { Authorization: `Bearer ${await signToken(clock, { entitlements: ['regdoc', 'occ'] })}` };
  let session: Record<string, string> = {};

  const call = async (method: string, path: string, body?: object) => {
    const init = { method, headers: bearer, ...(body && { body: JSON.stringify(body) }) };
    const response = await app.request(path, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response;
  };
  const made = async (path: string) =>
    ((await (await call('POST', path, { name: 'Worst' })).json()) as { id: string }).id;
  async function signIn(): Promise<void> {
    const cookie = (await call('POST', '/api/v1/session')).headers.get('Set-Cookie')!.split(';')[0]!;
    session = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' };
  }

  await signIn();
  const [list, deleted, collection] = [
    await made('/api/v1/lists'),
    await made('/api/v1/lists'),
    await made('/api/v1/control-collections'),
  ];
  const controls = [{ controlId: 'AC-2', framework: 'nist-800-53' }];
  // A newer release than the pinned one is news, which can be marked as read.
  await call('POST', `/api/v1/lists/${list}/stigs`, { slugs: [slug], releases: { [slug]: 'V1R1' } });
  await call('PUT', `/api/v1/lists/${list}/hosts`, { hosts: [{ hostName: 'web01' }] });
  await call('DELETE', `/api/v1/lists/${deleted}`);
  await call('POST', `/api/v1/control-collections/${collection}/controls`, { controls });
  // Of what is a favorite the page has no form to make it one.
  await call('POST', '/api/v1/my-stigs', { slugs: ['lantern_web_server_2'] });
  await call('POST', '/api/v1/my-controls', { ...controls[0], controlId: 'AC-1' });
  // The page that follows a removal has a form to put back what was removed.
  await call('POST', '/api/v1/my-stigs', { slugs: [slug] });
  const removed = await app.request('/favorites/stigs/remove', {
    method: 'POST',
    headers: { ...session, 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ slug }).toString(),
  });
  const afterRemoval = removed.headers.get('Location')!;
  const ownToken = await app.request('/api/v1/session/tokens', {
    method: 'POST',
    headers: session,
    body: JSON.stringify({ name: 'Worst', ttl: '30d' }),
  });
  const { id: token } = (await ownToken.json()) as { id: string };

  const values: Record<string, string> = {
    slug,
    stigSlug: slug,
    benchmarkId: slug,
    framework: 'nist-800-53',
    controlId: 'AC-2',
    cci: 'CCI-000015',
    groupId: 'V-900001',
    documentId: 'harbor-basic-directive',
    code: '15-1212.00',
    run: '1',
    area: 'lists',
    name: 'gapstone.css',
  };
  const samples: Samples = (path, parameter) => {
    const ids: [RegExp, string][] = [
      [/lists\//, list],
      [/collections\//, collection],
      [/rules\//, 'V-900001'],
      [/tokens\//, token],
    ];
    const value = parameter === 'id' ? ids.find(([pattern]) => pattern.test(path))?.[1] : values[parameter];
    if (value === undefined) throw new Error(`give the walk a sample of ${parameter} of ${path}`);
    return value;
  };
  const forms: PageForm[] = [];
  for (const [headers, paths] of [
    [session, [...pagesOf(app, 'GET'), afterRemoval]],
    [{}, ['/signin']],
  ] as const)
    for (const path of paths) {
      const address = path.replace(/:(\w+)/g, (_, name) => samples(path, name));
      const page = await app.request(address, { headers });
      if (page.headers.get('Content-Type')?.startsWith('text/html'))
        forms.push(...formsOf(await page.text()));
    }
  const checklist = short((await (await call('GET', `/api/v1/stigs/${slug}/download`)).json()) as Cklb);
  const { rule_id_src: id } = checklist.stigs[0]!.rules[0]!;
  const results = writeResults([{ id, result: 'fail', message: 'm' }], {
    benchmarkId: checklist.stigs[0]!.stig_id,
    target: 'web01',
  });
  const ckl = writeCkl(checklist);
  return {
    app,
    document: (await (await app.request('/openapi.json')).json()) as Requested,
    samples,
    files: {
      members: { checklist: [checklist, ckl], checklists: [[checklist], [ckl]], results: [results] },
      files: [JSON.stringify(checklist), ckl, results],
    },
    forms,
    headersFor(access) {
      if (access === null) return session;
      return access === 'cron'
        ? { Authorization: `Bearer ${cronSecret}` }
        : access === 'session'
          ? session
          : bearer;
    },
    signIn,
    async close() {
      await uploads.stop();
      db.close();
    },
  };
}

/** A checklist of one open rule with short texts, so that many have room. */
function short(checklist: Cklb): Cklb {
  const [stig] = checklist.stigs;
  const [rule] = stig!.rules;
  const text = { rule_title: 't', group_title: 'g', fix_text: 'f', discussion: 'd', check_content: 'c' };
  return {
    ...checklist,
    stigs: [
      { ...stig!, rules: [{ ...rule!, ...text, status: 'open', comments: 'c', finding_details: 'd' }] },
    ],
  };
}
