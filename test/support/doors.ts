import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { openCatalog } from '../../src/db/database.ts';
import { type AuditLine, auditLines } from './audit.ts';
import { authority, type Issued, listPem, revocationList, serverCertificate } from './pki.ts';
import { type Running, startServer, until } from './running.ts';
import { put, scratchFolder } from './scratch.ts';

/** The endpoint of the provider, which is nowhere: no server ever asks it. */
const authorizeUrl = 'https://login.test.example/realms/x/authorize?kc=1';
export const issuer = 'https://login.test.example/realms/x';
export const clientId = 'gapstone-pages';
const publicUrl = 'https://gapstone.test.example';

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The `name=value` of each cookie that it sets. */
  cookies: string[];
}

export interface Ask {
  method?: string;
  headers?: Record<string, string | string[]>;
  form?: Record<string, string>;
  json?: unknown;
  /** The address that it comes from: over plain HTTP what the proxy says, unless it is sent `direct`. */
  from?: string;
  direct?: true;
  tls?: {
    cert?: string;
    key?: string;
    session?: Buffer;
    maxVersion?: 'TLSv1.2';
    onSession?: (session: Buffer) => void;
  };
}

/** A server with its ways in set up, its own certificate or a proxy before it, and the authorities that it trusts. */
export interface Door {
  running: Running;
  folder: string;
  ask(path: string, ask?: Ask): Promise<Reply>;
  /** The lines of the audit stream about requests from an address. */
  audit(from: string): AuditLine[];
  stop(): Promise<void>;
}

export interface Site {
  root: Issued;
  issuing: Issued;
  /** Writes the revocation list of an authority, as PEM or DER. */
  revoke(
    authority: Issued,
    serials: bigint[],
    wish?: Parameters<typeof revocationList>[2],
    der?: boolean,
  ): void;
  folder: string;
  env: Record<string, string>;
  idToken(claims: Record<string, unknown>, header?: Record<string, string>): Promise<string>;
}

const provider = await generateKeyPair('RS256', { extractable: true });
const stranger = await generateKeyPair('RS256', { extractable: true });

/** Authorities, revocation lists, people and the keys of a provider, in files. */
export async function site(): Promise<Site> {
  const folder = scratchFolder();
  const root = authority('Root');
  const issuing = authority('Issuing', root);
  mkdirSync(join(folder, 'crl'));
  const revoke: Site['revoke'] = (of, serials, wish = {}, der = false) => {
    const list = revocationList(of, serials, wish);
    // Renamed into place, as what fetches lists does.
    writeFileSync(join(folder, 'crl', of === root ? 'root.crl' : 'issuing.crl'), der ? list : listPem(list));
  };
  revoke(root, []);
  revoke(issuing, []);
  put(folder, 'client-ca.pem', root.cert + issuing.cert);
  put(folder, 'people.csv', 'subject,org,entitlements\nann@test.mil,red,occ;regdoc\n*,guests,\n');
  const jwk = { ...(await exportJWK(provider.publicKey)), alg: 'RS256', kid: 'p' };
  put(folder, 'jwks.json', JSON.stringify({ keys: [jwk] }));
  const env = {
    GAPSTONE_TLS_CLIENT_CA: join(folder, 'client-ca.pem'),
    GAPSTONE_TLS_CRL: join(folder, 'crl'),
    GAPSTONE_PEOPLE: join(folder, 'people.csv'),
    GAPSTONE_JWKS: join(folder, 'jwks.json'),
    GAPSTONE_ISSUER: issuer,
    GAPSTONE_AUDIENCE: 'gapstone-api',
    GAPSTONE_OIDC_AUTHORIZE: authorizeUrl,
    GAPSTONE_OIDC_CLIENT_ID: clientId,
    GAPSTONE_PUBLIC_URL: publicUrl,
    GAPSTONE_SELF_TOKENS: 'on',
  };
  return { root, issuing, revoke, folder, env, idToken };
}

/** An ID token as the provider signs it; `x: 'stranger'` in the header signs it with another key. */
async function idToken(
  claims: Record<string, unknown>,
  header: Record<string, string> = {},
): Promise<string> {
  const iat = Math.floor(Date.now() / 1000);
  const all = { iss: issuer, aud: clientId, sub: 'olga', iat, exp: iat + 900, org: 'red', ...claims };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const { x, ...shown } = header;
  return new SignJWT(kept as JWTPayload)
    .setProtectedHeader({ alg: 'RS256', kid: 'p', typ: 'JWT', ...shown })
    .sign((x === 'stranger' ? stranger : provider).privateKey);
}

/** Starts a server of a site: with TLS of its own, or without for a proxy on this machine. */
export async function openDoor(
  of: Site,
  how: 'tls' | 'proxy',
  more: Record<string, string> = {},
  under: string[] = [],
): Promise<Door> {
  const folder = scratchFolder();
  openCatalog(join(folder, 'gapstone.db'), { create: true }).close();
  const own = serverCertificate(of.root);
  const secure = {
    GAPSTONE_TLS_CERT: put(folder, 'server.pem', own.cert),
    GAPSTONE_TLS_KEY: join(folder, 'server.key'),
  };
  writeFileSync(secure.GAPSTONE_TLS_KEY, own.keyPem, { mode: 0o600 });
  const behind = { GAPSTONE_TRUSTED_PROXIES: '127.0.0.1', GAPSTONE_CERT_HEADER: 'X-Client-Cert' };
  const env = { ...of.env, ...(how === 'tls' ? secure : behind), ...more };
  const running = await startServer(folder, ['serve', '--port', '0'], env, under);
  return {
    running,
    folder,
    ask: (path, ask = {}) => send(running.port, how === 'tls', path, ask),
    audit: (from) => auditLines(join(folder, 'gapstone-audit.jsonl')).filter(({ source }) => source === from),
    async stop() {
      running.child.kill('SIGTERM');
      await running.ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function send(port: number, secure: boolean, path: string, ask: Ask): Promise<Reply> {
  const { form, json, from, tls: { onSession, ...tls } = {}, headers } = ask;
  const isDirect = secure || ask.direct === true;
  const body = form ? new URLSearchParams(form).toString() : json === undefined ? '' : JSON.stringify(json);
  const method = ask.method ?? (form || json !== undefined ? 'POST' : 'GET');
  const all = {
    Accept: 'text/html',
    ...(form ? { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin' } : {}),
    'Content-Length': String(Buffer.byteLength(body)),
    ...(isDirect || from === undefined ? {} : { 'X-Forwarded-For': from, 'X-Forwarded-Proto': 'https' }),
    ...headers,
  };
  const local = isDirect && from !== undefined ? { localAddress: from } : {};
  const where = { host: '127.0.0.1', port, path, method, headers: all, agent: false as const, ...local };
  const options = secure ? { ...where, ...tls, rejectUnauthorized: false } : where;
  return new Promise((resolve, reject) => {
    const sent = (secure ? tlsRequest : plainRequest)(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const cookies = (response.headers['set-cookie'] ?? []).map((each) => each.split(';')[0]!);
        resolve({ status: response.statusCode!, headers: response.headers, text, cookies });
      });
    });
    if (onSession) sent.on('socket', (socket) => socket.on('session', onSession));
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The session cookie of a reply; undefined without one. */
export const sessionOf = ({ cookies }: Reply): string | undefined =>
  cookies.find((each) => /^gapstone_session=./.test(each));

/** Waits until a log line of a server says something. */
export const logged = ({ running }: Door, text: string, times = 1): Promise<void> =>
  until(text, () => running.stdout().split(text).length > times);

/** A certificate as a proxy hands it on. */
export const asHeader = (cert: string): string => encodeURIComponent(cert);

/** What a browser holds after opening the sign-in page: the cookie that binds it, and what it brings to the provider. */
export async function beginSignIn(door: Door, from: string, next = '/', cookie?: string) {
  const page = await door.ask(`/signin?next=${encodeURIComponent(next)}`, {
    from,
    headers: cookie === undefined ? {} : { Cookie: cookie },
  });
  const href = /href="(https:\/\/login\.test\.example[^"]*)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&');
  const query = new URL(href ?? 'https://none.example').searchParams;
  return {
    page,
    href,
    query,
    cookie: page.cookies.find((each) => each.startsWith('__Host-')) ?? '',
    state: query.get('state') ?? '',
    nonce: query.get('nonce') ?? '',
  };
}

/** Posts what the provider answered, as its page has a browser do. */
export const postAnswer = (door: Door, from: string, cookie: string, form: Record<string, string>) =>
  door.ask('/signin/oidc', {
    from,
    form,
    headers: { Cookie: cookie, Origin: 'https://login.test.example', 'Sec-Fetch-Site': 'cross-site' },
  });
