import { dirname, join, parse, resolve } from 'node:path';
import { z } from 'zod';
import { isNetwork } from './addresses.ts';
import { CommandError } from './errors.ts';
import { dataFolder, readSettingsFile } from './installation.ts';
import {
  choice,
  file,
  fileOrFolder,
  filled,
  folder,
  isEndpoint,
  isOrigin,
  list,
  must,
  onOff,
  serviceLink,
  whole,
  wrongEntry,
} from './setting-kinds.ts';
import { printable } from './text.ts';

/** Every setting and its default: `maxBody` is the variable GAPSTONE_MAX_BODY. No other variable is read. */
const settings = z.object({
  db: filled.default(join(dataFolder ?? '', 'gapstone.db')),
  usersDb: filled.nullable().default(null),
  host: filled.default('127.0.0.1'),
  port: whole(0, 65535, serviceLink).default(8080),
  /** A pinned JWKS file; without one the local issuer is used. */
  jwks: file.nullable().default(null),
  issuer: filled.default('gapstone'),
  audience: filled.default('gapstone'),
  claimSub: filled.default('sub'),
  claimEmail: filled.default('email'),
  claimOrg: filled.default('org'),
  claimEntitlements: filled.default('entitlements'),
  keyFile: filled.nullable().default(null),
  logLevel: choice(['debug', 'info', 'warn', 'error'], 'debug, info, warn or error').default('info'),
  /** The secret of the purge endpoint, as an Authorization header can carry it; null turns the endpoint off. */
  cronSecret: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be one or more visible ASCII characters, without spaces')
    .nullable()
    .default(null),
  plants: onOff.default(true),
  /** Certificate chain and key, PEM files; without them HTTP is plain. */
  tlsCert: file.nullable().default(null),
  tlsKey: file.nullable().default(null),
  /** Authorities of client certificates, PEM; without them nobody comes in by certificate (rule D43.1). */
  tlsClientCa: file.nullable().default(null),
  /** Their revocation lists. */
  tlsCrl: fileOrFolder.nullable().default(null),
  /** Which name of a certificate is the subject. */
  certSubject: choice(['upn', 'email', 'cn', 'dn'], 'upn, email, cn or dn').default('upn'),
  /** The header with which a trusted proxy hands on a client certificate (rule D43.2), in lower case. */
  certHeader: filled
    .pipe(
      z
        .string()
        .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, must('the name of a header'))
        .toLowerCase(),
    )
    .nullable()
    .default(null),
  /** What people who come by certificate may do (rule D43.4). */
  people: file.nullable().default(null),
  /** The authorization endpoint of an OpenID Connect provider, and our id there (rule D43.3). */
  oidcAuthorize: z
    .string()
    .refine(isEndpoint, 'must be an https address such as https://login.example.org/authorize')
    .nullable()
    .default(null),
  oidcClientId: filled.nullable().default(null),
  /** Minutes after which an unused session ends (rule D43.5). */
  sessionIdle: whole(5, 60).default(15),
  /** Whether users may make tokens of their own (rule D43.6). */
  selfTokens: onOff.default(false),
  /** Requests a minute per caller; null sets no limit. */
  rateLimit: filled
    .pipe(
      z
        .string()
        .regex(/^(?:off|[1-9]\d{0,8})$/i, must('off or a number of requests a minute'))
        .transform((text) => (text.toLowerCase() === 'off' ? null : Number(text))),
    )
    .default(null),
  /** The most bytes of a request body, except for checklists (rule D2.3). */
  maxBody: whole(1024, 64 * 1024 * 1024).default(1024 * 1024),
  maxConnections: whole(1, 65535).default(1000),
  /** Seconds within which a request must arrive. */
  requestTimeout: whole(1, 3600).default(30),
  metrics: onOff.default(true),
  corsOrigins: list(
    z
      .string()
      .refine(isOrigin, wrongEntry)
      .transform((entry) => new URL(entry).origin),
  ),
  /** The origin under which others reach the server. */
  publicUrl: z
    .string()
    .refine(isOrigin, 'must be an origin such as https://gapstone.example.org')
    .transform((text) => new URL(text).origin)
    .nullable()
    .default(null),
  /** Whether programs may ask by the Model Context Protocol (rule D41.1). */
  mcp: onOff.default(true),
  /** Addresses and networks (CIDR) whose `X-Forwarded-For` is trusted. */
  trustedProxies: list(z.string().refine(isNetwork, wrongEntry)),
  /** Whether `start` imports the package's samples, besides its facts (rule D44.1). */
  samples: onOff.default(true),
  /** The name of this site in the names of its backups (rule D44.5). */
  site: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      'must be 1 to 64 letters, digits, dots, hyphens or underscores',
    )
    .nullable()
    .default(null),
  /** The folder whose files are imported (rule D33). */
  inbox: folder.nullable().default(null),
  auditFile: filled.nullable().default(null),
  /** After a failed write to the audit stream: `stop` rejects what must be audited, `continue` allows it. */
  auditFailure: choice(['stop', 'continue'], 'stop or continue').default('stop'),
  banner: z
    .string()
    .trim()
    .refine((text) => /^\P{C}{1,200}$/u.test(text), 'must be one line of 1 to 200 characters')
    .nullable()
    .default(null),
});

/** The default for users' data: `<name>-users.db` beside the catalog (rule D23.1). */
function usersBeside(db: string): string {
  if (db === ':memory:') return db;
  const { dir, name } = parse(db);
  return join(dir, `${name}-users.db`);
}

export type Setting = keyof typeof settings.shape;
export const settingNames = Object.keys(settings.shape) as Setting[];
export const variableOf = (name: Setting) => `GAPSTONE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
const flagOf = (name: Setting) => `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`;
export const variables: readonly string[] = settingNames.map(variableOf);
/** Settings whose values are never shown. */
export const secrets: readonly Setting[] = ['cronSecret'];

/** Flags, which override the environment. */
export type Flags = { [Name in 'db' | 'users-db' | 'host' | 'port']?: string | undefined };

/** The configuration of rule D21, checked and frozen. */
export type Config = ReturnType<typeof readConfig>;
export type LogLevel = Config['logLevel'];

/** A shorter secret can be guessed: it gives a warning. */
const leastSecret = 16;
const mostNames = 20;
const longestName = 64;

/** The settings of `gapstone.env`, and the environment of this process, which comes first. Throws `CommandError`. */
export const environment = (file = readSettingsFile()): NodeJS.ProcessEnv => ({ ...file, ...process.env });

/**
 * The settings of flags, environment and `gapstone.env`, frozen. Throws `CommandError` that names the wrong setting
 * (rules D21 and D44.3).
 */
export function readConfig(flags: Flags = {}, env: NodeJS.ProcessEnv = environment()) {
  const { db, 'users-db': usersFile, host, port } = flags;
  const fromFlags: { [Name in Setting]?: string | undefined } = { db, usersDb: usersFile, host, port };
  const given: typeof fromFlags = {};
  for (const name of settingNames) given[name] = fromFlags[name] ?? env[variableOf(name)];
  if (given.jwks !== undefined && (given.issuer === undefined || given.audience === undefined))
    throw new CommandError('GAPSTONE_JWKS also needs GAPSTONE_ISSUER and GAPSTONE_AUDIENCE: set both', 2);
  const { data, error } = settings.safeParse(given);
  if (error) {
    const { path, message } = error.issues[0]!;
    const name = path[0] as Setting;
    throw new CommandError(
      `${fromFlags[name] === undefined ? variableOf(name) : flagOf(name)} ${message}`,
      2,
    );
  }
  checkTogether(data);
  const { tlsCert, tlsKey, claimSub, claimEmail, claimOrg, claimEntitlements, ...rest } = data;
  const usersDb = rest.usersDb ?? usersBeside(rest.db);
  if (rest.db !== ':memory:' && resolve(usersDb) === resolve(rest.db))
    throw new CommandError('--db and --users-db name the same file', 2);
  if (rest.inbox !== null && rest.db === ':memory:')
    throw new CommandError('GAPSTONE_INBOX needs a catalog in a file', 2);
  const beside = (file: string) => join(dirname(usersDb), file);
  const config = Object.freeze({
    ...rest,
    usersDb,
    claims: { sub: claimSub, email: claimEmail, org: claimOrg, entitlements: claimEntitlements },
    keyFile: rest.keyFile ?? beside('gapstone-key.json'),
    /** Whether the operator set it; the default is beside users' data. */
    keyFileIsGiven: rest.keyFile !== null,
    tls: tlsCert !== null && tlsKey !== null ? { cert: tlsCert, key: tlsKey } : null,
    auditFile: rest.auditFile ?? beside('gapstone-audit.jsonl'),
  });
  for (const own of [config.db, config.usersDb, config.keyFile, config.auditFile])
    if (rest.inbox !== null && resolve(own).startsWith(join(rest.inbox, '/')))
      throw new CommandError(`GAPSTONE_INBOX must not hold our own files: ${own}`, 2);
  return config;
}

/** Throws `CommandError` for settings that need others, or exclude them (rules D43.1 to D43.3). */
function checkTogether(given: z.output<typeof settings>): void {
  const has = (name: Setting) =>
    given[name] !== null && (!Array.isArray(given[name]) || given[name].length > 0);
  const need = (name: Setting, ...others: Setting[]) => {
    const missing = others.filter((other) => !has(other)).map(variableOf);
    if (has(name) && missing.length > 0)
      throw new CommandError(`${variableOf(name)} also needs ${missing.join(' and ')}`, 2);
  };
  if (has('tlsCert') !== has('tlsKey'))
    throw new CommandError('GAPSTONE_TLS_CERT and GAPSTONE_TLS_KEY must both be set', 2);
  need('certHeader', 'tlsClientCa', 'trustedProxies');
  need('tlsCrl', 'tlsClientCa');
  need('people', 'tlsClientCa');
  if (has('tlsClientCa') && !has('tlsCert') && !has('certHeader'))
    throw new CommandError('GAPSTONE_TLS_CLIENT_CA also needs GAPSTONE_TLS_CERT or GAPSTONE_CERT_HEADER', 2);
  need('oidcAuthorize', 'oidcClientId', 'publicUrl', 'jwks');
  need('oidcClientId', 'oidcAuthorize');
  if (!has('oidcAuthorize')) return;
  if (!given.publicUrl!.startsWith('https:'))
    throw new CommandError(
      'GAPSTONE_OIDC_AUTHORIZE needs a GAPSTONE_PUBLIC_URL that begins with https://',
      2,
    );
  if (given.oidcClientId === given.audience)
    throw new CommandError(
      'GAPSTONE_OIDC_CLIENT_ID must not be GAPSTONE_AUDIENCE: a token for one would be one for the other',
      2,
    );
  if (!has('tlsCert') && !has('trustedProxies'))
    throw new CommandError(
      'GAPSTONE_OIDC_AUTHORIZE also needs GAPSTONE_TLS_CERT or GAPSTONE_TRUSTED_PROXIES',
      2,
    );
}

/** Warns of unknown GAPSTONE_ variables and a short cron secret; the warnings contain no values. */
export function configWarnings(config: Config, env: NodeJS.ProcessEnv = environment()) {
  const warnings: { msg: string; fields: { names?: string[]; more?: number } }[] = [];
  const unknown = Object.keys(env).filter(
    (name) => name.startsWith('GAPSTONE_') && !variables.includes(name),
  );
  if (unknown.length > 0) {
    const names = unknown.sort().slice(0, mostNames).map(shortened);
    const more = unknown.length - names.length;
    warnings.push({
      msg: 'unknown environment variables',
      fields: more > 0 ? { names, more } : { names },
    });
  }
  if (config.cronSecret !== null && config.cronSecret.length < leastSecret)
    warnings.push({ msg: `GAPSTONE_CRON_SECRET has fewer than ${leastSecret} characters`, fields: {} });
  return warnings;
}

const shortened = (name: string) => printable(name, longestName) + (name.length > longestName ? '…' : '');
