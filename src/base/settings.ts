import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isNetwork } from './addresses.ts';
import { statIfThere } from './files.ts';
import { dataFolder } from './installation.ts';

/** The error for a wrong value: what it must be, and its beginning. Not for secrets. */
const must = (what: string) => ({
  error: ({ input }: { input?: unknown }) => `must be ${what}, not "${String(input).slice(0, 40)}"`,
});
const wrongEntry = {
  error: ({ input }: { input?: unknown }) => `has an invalid entry: "${String(input).slice(0, 64)}"`,
};

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

// The kinds of settings.
const filled = z.string().refine((text) => text.trim() !== '', 'is set but empty');
const optional = <Kind extends z.ZodType>(kind: Kind) => kind.nullable().default(null);
const pattern = (expression: RegExp, what: string) => filled.pipe(z.string().regex(expression, must(what)));
const choice = <const Names extends readonly string[]>(...names: Names) =>
  filled.pipe(z.enum(names, must(alternatives.format(names))));
const onOff = filled.pipe(z.stringbool({ truthy: ['on'], falsy: ['off'], ...must('on or off') }));
const whole = (least: number, most: number) => {
  const isInRange = (text: string) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most;
  const error = must(`a number from ${least} to ${most}`);
  return filled.pipe(z.string().refine(isInRange, error).transform(Number));
};
/** A path to an existing file or folder. A missing permission is reported as such (rule D44.4). */
const existing = (what: 'file' | 'folder' | 'file or folder') =>
  filled.check((context) => {
    const fail = (message: string) => context.issues.push({ code: 'custom', input: context.value, message });
    try {
      const stat = statIfThere(context.value);
      const isRight = (what !== 'folder' && stat?.isFile()) || (what !== 'file' && stat?.isDirectory());
      if (!isRight) fail(`is not a ${what}: ${context.value}`);
    } catch (error) {
      fail(`is wrong: ${(error as Error).message}`);
    }
  });
const list = <Entry extends z.ZodType<string, string>>(entry: Entry) =>
  z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(entry))
    .default([]);
/** An exact origin as browsers send it; `*` is none, because some answers need a token. */
const origin = (wrong: string | typeof wrongEntry) =>
  z
    .string()
    .refine((text) => /^https?:\/\/[^/?#@\\\s*]+$/i.test(text) && URL.canParse(text), wrong)
    .transform((text) => new URL(text).origin);

/** Whether a text is the address of an endpoint over TLS; on this machine plain HTTP will do. */
function isEndpoint(text: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return (protocol === 'https:' || isHere) && username === '' && password === '' && hash === '';
}

/**
 * Every setting: its kind, its default, and its line in `gapstone config --help` and the man page. `maxBody` is the
 * variable GAPSTONE_MAX_BODY; no other variable is read. docs/operate.md says more.
 */
export const settings = z.object({
  db: filled
    .default(join(dataFolder ?? '', 'gapstone.db'))
    .describe('the catalog (gapstone.db; of a package in its data folder)'),
  usersDb: optional(filled).describe("users' data (<name>-users.db beside the catalog <name>.db)"),
  host: filled.default('127.0.0.1').describe('the address to listen on (127.0.0.1)'),
  port: whole(0, 65535).default(8080).describe('the port to listen on; 0 takes a free one (8080)'),
  jwks: optional(existing('file')).describe(
    'a file with the public keys of an identity provider (none: the local key signs)',
  ),
  issuer: filled.default('gapstone').describe('the issuer that tokens must name (gapstone)'),
  audience: filled.default('gapstone').describe('the audience that tokens must name (gapstone)'),
  claimSub: filled.default('sub').describe('the claim of the subject (sub)'),
  claimEmail: filled.default('email').describe('the claim of the e-mail address (email)'),
  claimOrg: filled.default('org').describe('the claim of the organization (org)'),
  claimEntitlements: filled.default('entitlements').describe('the claim of the entitlements (entitlements)'),
  keyFile: optional(filled).describe("the key of the local issuer (gapstone-key.json beside users' data)"),
  logLevel: choice('debug', 'info', 'warn', 'error')
    .default('info')
    .describe('debug, info, warn or error (info)'),
  /** As an Authorization header can carry it. */
  cronSecret: optional(
    z.string().regex(/^[\x21-\x7e]+$/, 'must be one or more visible ASCII characters, without spaces'),
  ).describe('the secret of the purge endpoint (none: it is off)'),
  plants: onOff.default(true).describe('the sample endpoint POST /plants: on or off (on)'),
  tlsCert: optional(existing('file')).describe('the certificate chain, PEM (none: plain HTTP)'),
  tlsKey: optional(existing('file')).describe('its key, PEM, readable by the service alone'),
  /** Rule D43.1, with the next two. */
  tlsClientCa: optional(existing('file')).describe(
    'authorities of client certificates, PEM (none: nobody comes in by certificate)',
  ),
  tlsCrl: optional(existing('file or folder')).describe(
    'their revocation lists, a file or a folder, PEM or DER',
  ),
  certSubject: choice('upn', 'email', 'cn', 'dn')
    .default('upn')
    .describe('the name in a certificate that is the subject: upn, email, cn or dn (upn)'),
  /** Rule D43.2; in lower case. */
  certHeader: optional(
    pattern(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'the name of a header').transform((name) => name.toLowerCase()),
  ).describe('the header with which a trusted proxy hands on a certificate'),
  /** Rule D43.4. */
  people: optional(existing('file')).describe('a csv subject,org,entitlements of who comes by certificate'),
  /** Rule D43.3, with the next one. */
  oidcAuthorize: optional(
    z.string().refine(isEndpoint, 'must be an https address such as https://login.example.org/authorize'),
  ).describe('the authorization endpoint of an OpenID Connect provider'),
  oidcClientId: optional(filled).describe('the client id of Gapstone there'),
  /** Rule D43.5. */
  sessionIdle: whole(5, 60).default(15).describe('minutes after which an unused session ends, 5 to 60 (15)'),
  /** Rule D43.6. */
  selfTokens: onOff.default(false).describe('whether users may make tokens for scripts: on or off (off)'),
  /** Null sets no limit. */
  rateLimit: optional(
    pattern(/^(?:off|[1-9]\d{0,8})$/i, 'off or a number of requests a minute').transform((text) =>
      text.toLowerCase() === 'off' ? null : Number(text),
    ),
  ).describe('requests a minute for each caller, or off (off)'),
  /** Except for checklists (rule D2.3). */
  maxBody: whole(1024, 64 * 1024 * 1024)
    .default(1024 * 1024)
    .describe('bytes of a request body (1048576)'),
  maxConnections: whole(1, 65535).default(1000).describe('open connections (1000)'),
  requestTimeout: whole(1, 3600).default(30).describe('seconds that a request may take to arrive (30)'),
  metrics: onOff.default(true).describe('/metrics: on or off (on)'),
  corsOrigins: list(origin(wrongEntry)).describe('origins whose scripts may read answers, by commas (none)'),
  publicUrl: optional(origin('must be an origin such as https://gapstone.example.org')).describe(
    'the origin under which others reach the server',
  ),
  /** Rule D41.1. */
  mcp: onOff.default(true).describe('/mcp and "gapstone mcp": on or off (on)'),
  trustedProxies: list(z.string().refine(isNetwork, wrongEntry)).describe(
    'addresses and networks of proxies to believe, by commas (none)',
  ),
  /** Rule D44.1. */
  samples: onOff.default(true).describe('whether start imports the samples: on or off (on)'),
  /** Rule D44.5. */
  site: optional(
    z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
        'must be 1 to 64 letters, digits, dots, hyphens or underscores',
      ),
  ).describe("the name of this site in the names of its backups (an id of users' data)"),
  /** Rule D33. */
  inbox: optional(existing('folder').transform((path) => resolve(path))).describe(
    'a folder whose files are imported (none)',
  ),
  auditFile: optional(filled).describe("the audit stream (gapstone-audit.jsonl beside users' data)"),
  auditFailure: choice('stop', 'continue')
    .default('stop')
    .describe('stop or continue while the audit stream cannot be written (stop)'),
  banner: optional(
    z
      .string()
      .trim()
      .refine((text) => /^\P{C}{1,200}$/u.test(text), 'must be one line of 1 to 200 characters'),
  ).describe('a classification banner for every page and export (none)'),
});

export type Setting = keyof typeof settings.shape;
export const settingNames = Object.keys(settings.shape) as Setting[];
/** Settings whose values are never shown. */
export const secrets: readonly Setting[] = ['cronSecret'];

export const variableOf = (name: Setting) => `GAPSTONE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
export const optionOf = (name: Setting) => `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`;
/** What a setting is, in one line. */
export const descriptionOf = (name: Setting) => settings.shape[name].description!;
