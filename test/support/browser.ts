import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import * as assert from 'uvu/assert';
import { suite } from './harness.ts';
import { documentedHost } from './proxies.ts';
import { hasReferenceData, reference, shipped } from './reference.ts';
import { killAll, type Running, runToEnd, startServer } from './running.ts';
import { put, scratchFolder } from './scratch.ts';

/** A name that is this machine and that a browser does not take for it: there plain HTTP is not trusted. */
export const plainHost = 'gapstone.test';

/** What Debian's Chromium must not do by itself: look for updates, talk to anybody. */
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--host-resolver-rules=MAP ${plainHost} 127.0.0.1, MAP ${documentedHost} 127.0.0.1`,
];

/** Where a Chromium is, or an error that says how it comes there. Nothing is installed by itself. */
function chromiumPath(): string {
  const named = process.env.GAPSTONE_CHROMIUM;
  const found = [named, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    (path) => path !== undefined && existsSync(path),
  );
  if (found === undefined)
    throw new Error(
      'chromium is missing: install it (Debian: apt-get install --no-install-recommends chromium), or name it in GAPSTONE_CHROMIUM',
    );
  return found;
}

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath(), args: flags });
}

/** A server over the sample data and, where they are, the real releases that tests compare. */
export interface Served extends Running {
  folder: string;
  token(subject: string, ...more: string[]): Promise<string>;
}

export const banner = 'UNCLASSIFIED // TEST';

/** Whether the real releases of Red Hat Enterprise Linux 9 are served. */
export const hasRealReleases = hasReferenceData;

/** Imports and serves; `withReal` adds the publisher's releases that lie beside the project. */
export async function serveCatalog(
  withReal: boolean,
  env: Record<string, string> = { GAPSTONE_BANNER: banner },
): Promise<Served> {
  const folder = scratchFolder();
  const releases = ['V2R7', 'V2R8'].map((version) =>
    reference('xccdf', `U_RHEL_9_STIG_${version}_Manual-xccdf.xml`),
  );
  const sources = [shipped(), ...(withReal && hasRealReleases ? releases : [])];
  const imported = await runToEnd(folder, ['import', ...sources]);
  assert.is(imported.code, 0, imported.stderr);
  const running = await startServer(folder, ['serve', '--port', '0'], env);
  return {
    ...running,
    folder,
    async token(subject, ...more) {
      const own = ['--subject', subject, '--org', 'red'];
      const issued = await runToEnd(folder, ['token', 'issue', ...own, ...more]);
      assert.is(issued.code, 0, issued.stderr);
      return issued.stdout.trim();
    },
  };
}

/** What a browser did that pages must not make it do. */
export interface Watch {
  problems: string[];
}

/** Watches a context: requests to other origins, errors of scripts, and what the policy of a page blocked. */
export function watch(context: BrowserContext, url: string): Watch {
  const problems: string[] = [];
  const { port } = new URL(url);
  context.on('request', (request) => {
    const target = new URL(request.url());
    const own = target.port === port && ['127.0.0.1', plainHost, documentedHost].includes(target.hostname);
    if (!own) problems.push(`a request to ${request.url()}`);
  });
  context.on('weberror', (error) => problems.push(`an error: ${error.error().message}`));
  context.on('console', (message) => {
    // The browser notes every answer of 400 and more as an error; tests ask for some.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text()))
      problems.push(`on the console: ${message.text()}`);
  });
  return { problems };
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  watch: Watch;
}

/** A new visitor; closing the visit fails where a page did what it must not. */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ baseURL: url, ...options });
  context.setDefaultTimeout(15_000);
  return { context, page: await context.newPage(), watch: watch(context, url) };
}

/** A new visitor whose home, with its certificates, is a folder; the certificate is chosen without asking. */
export async function visitWithProfile(url: string, home: string): Promise<Visit> {
  const anywhere = { [`${url},*`]: { setting: { filters: [{}] } } };
  const profile = { profile: { content_settings: { exceptions: { auto_select_certificate: anywhere } } } };
  put(home, 'profile/Default/Preferences', JSON.stringify(profile));
  const context = await chromium.launchPersistentContext(join(home, 'profile'), {
    executablePath: chromiumPath(),
    args: flags,
    baseURL: url,
    env: { ...process.env, HOME: home } as Record<string, string>,
  });
  context.setDefaultTimeout(15_000);
  return { context, page: context.pages()[0]!, watch: watch(context, url) };
}

export async function leave({ context, watch: { problems } }: Visit): Promise<void> {
  await context.close();
  assert.equal(problems, []);
}

/** What a suite in a browser works with: the browser, the server that it looks at, and the token of its reader. */
export interface Site {
  browser: Browser;
  served: Served;
  token: string;
  /** A new visitor, under another name of this machine where one is given. */
  visit(options?: BrowserContextOptions, host?: string): Promise<Visit>;
  /** An answer of the API to the reader. */
  ask<T>(path: string): Promise<T>;
  /** Sends to the API in the reader's name, and gives its answer. */
  post(path: string, body: object): Promise<{ id: string }>;
}

/**
 * A suite over a served catalog, and its site, which is there from `before` on: what a suite prepares besides comes in a
 * `before` of its own.
 */
export function browserSuite(
  name: string,
  { withReal = false, entitlements = [] }: { withReal?: boolean; entitlements?: string[] } = {},
) {
  const tests = suite(name);
  const request = async (path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${site.token}` };
    return (await fetch(site.served.url + path, { headers, ...init })).json();
  };
  const site = {
    visit: (options, host = '127.0.0.1') =>
      visit(site.browser, site.served.url.replace('127.0.0.1', host), options),
    ask: (path) => request(path),
    post: (path, body) => request(path, { method: 'POST', body: JSON.stringify(body) }),
  } as Site;
  tests.before(async () => {
    site.browser = await startBrowser();
    site.served = await serveCatalog(withReal);
    const entitled = entitlements.flatMap((each) => ['--entitlement', each]);
    site.token = await site.served.token('ann', ...entitled);
  });
  tests.after(async () => {
    await site.browser?.close();
    killAll();
  });
  return { tests, site };
}

/** Signs in as a reader does: the token pasted into the form. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.goto('/signin');
  await page.getByLabel('User token').fill(token);
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('You are signed in.').waitFor();
}

const axeSource = readFileSync(
  join(createRequire(import.meta.url).resolve('axe-core/package.json'), '..', 'axe.min.js'),
  'utf8',
);

/** The violations of WCAG 2.2 AA that axe-core finds on a page, in words. */
export async function violations(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axeSource);
  return page.evaluate(async () => {
    interface Result {
      violations: { id: string; help: string; nodes: { target: unknown; failureSummary?: string }[] }[];
    }
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Result> } };
    const runOnly = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const result = await axe.run({ runOnly });
    return result.violations.flatMap(({ id, help, nodes }) =>
      nodes
        .slice(0, 5)
        .map((node) => `${id}: ${help}: ${JSON.stringify(node.target)} ${node.failureSummary ?? ''}`),
    );
  });
}
