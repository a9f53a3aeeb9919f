import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { leave, violations, visitWithProfile } from '../support/browser.ts';
import { type Door, openDoor, type Site, site } from '../support/doors.ts';
import { suiteIf } from '../support/harness.ts';
import { issue, person } from '../support/pki.ts';
import { programs } from '../support/programs.ts';
import { type Documented, documented, documentedHost, endProxies } from '../support/proxies.ts';
import { killAll } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';

// A site set up by docs/sign-in.md alone, as a person meets it in a browser with a certificate, and with a provider.
const comingIn = suiteIf(programs('nginx', 'certutil', 'pk12util', 'openssl'), 'Coming in');

let at: Site;
let door: Door;
let set: Documented;
let url: string;

const upn = '1234567890@mil';

/** A provider: its page has the browser send a token at once, as for who is signed in there already. */
const provider = createServer(async (request, response) => {
  const asked = new URL(request.url!, 'http://127.0.0.1').searchParams;
  const id_token = await at.idToken({ iss: set.settings(2).GAPSTONE_ISSUER, upn, nonce: asked.get('nonce') });
  const fields = Object.entries({ state: asked.get('state')!, id_token });
  response.setHeader('Content-Type', 'text/html').end(
    `<form method="post" action="${asked.get('redirect_uri')}">
     ${fields.map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join('')}
     </form><script>document.forms[0].submit()</script>`,
  );
});

comingIn?.before(async () => {
  at = await site();
  set = await documented(at);
  url = `https://${documentedHost}:${set.port}`;
  await new Promise((resolve) => provider.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = provider.address() as AddressInfo;
  door = await openDoor({ ...at, env: {} }, 'proxy', {
    ...set.settings(1, 2),
    GAPSTONE_OIDC_AUTHORIZE: `http://127.0.0.1:${port}/authorize`,
    GAPSTONE_SELF_TOKENS: 'on',
  });
  set.start('nginx', door.running.port);
});
comingIn?.after(() => {
  provider.close();
  endProxies();
  killAll();
});

function run(command: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  assert.is(status, 0, `${command}: ${stderr}`);
}

/** A home whose certificates (an NSS database) are the authority of the site and, if given, that of a person. */
function homeWith(one: { cert: string; keyPem: string } | null): string {
  const home = scratchFolder();
  const folder = join(home, '.pki', 'nssdb');
  mkdirSync(folder, { recursive: true });
  const db = `sql:${folder}`;
  run('certutil', '-N', '--empty-password', '-d', db);
  run('certutil', '-A', '-n', 'Root', '-t', 'C,,', '-d', db, '-i', put(home, 'root.pem', at.root.cert));
  if (one === null) return home;
  const both = put(home, 'person.pem', one.cert + one.keyPem);
  const bundle = join(home, 'person.p12');
  run('openssl', 'pkcs12', '-export', '-in', both, '-out', bundle, '-passout', 'pass:');
  run('pk12util', '-i', bundle, '-d', db, '-W', '');
  return home;
}

comingIn?.('by one press with a certificate', async () => {
  const home = homeWith(issue(at.issuing, { extensions: person(upn) }));
  const visitor = await visitWithProfile(url, home);
  const { page } = visitor;
  await page.goto('/signin?next=/systems');
  assert.equal(await violations(page), []);
  await page.getByRole('button', { name: 'Sign in with your certificate' }).click();
  await page.getByText('You are signed in.').waitFor();
  assert.is(new URL(page.url()).pathname, '/systems');
  assert.ok(await page.getByText(upn).isVisible());
  await leave(visitor);
});

comingIn?.('by one press with the organization, back on the page that was wanted', async () => {
  const visitor = await visitWithProfile(url, homeWith(null));
  const { page, watch } = visitor;
  await page.goto('/account');
  assert.is(new URL(page.url()).pathname, '/signin');
  await page.getByRole('link', { name: 'Sign in with your organization' }).click();
  await page.getByText('You are signed in.').waitFor();
  assert.is(new URL(page.url()).pathname, '/account');
  // The one request to elsewhere is that of the reader to the provider.
  const address = `a request to ${door.running.url.replace(/:\d+$/, '')}`;
  assert.ok(watch.problems.splice(0).every((each) => each.startsWith(address)));

  await page.getByLabel('Name').fill('nightly');
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = (await page.locator('code.mono').textContent())!;
  assert.equal(await violations(page), []);
  const bearer = { headers: { Authorization: `Bearer ${token}` } };
  assert.is((await door.ask('/api/v1/stigs', bearer)).status, 200);
  await page.getByRole('button', { name: /^Revoke/ }).click();
  await page.getByText('You have no tokens.').waitFor();
  assert.is((await door.ask('/api/v1/stigs', bearer)).status, 401);
  await leave(visitor);
});

comingIn?.run();
