import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isNetwork } from './addresses.ts';
import { CommandError } from './errors.ts';
import { printable } from './text.ts';

/** The configuration of DECISIONS D21, checked and frozen. */
export interface Config {
  db: string;
  host: string;
  port: number;
  /** A pinned JWKS file; null means that the local issuer is used. */
  jwks: string | null;
  issuer: string;
  audience: string;
  claims: { sub: string; email: string; org: string; entitlements: string };
  keyFile: string;
  /** Whether it was named, rather than being the one beside the database. */
  keyFileIsGiven: boolean;
  logLevel: LogLevel;
  /** The secret of the purge endpoint; null turns it off. */
  cronSecret: string | null;
  /** Whether the sample endpoint is there. */
  plants: boolean;
  /** Certificate chain and key, PEM files; null serves plain HTTP. */
  tls: { cert: string; key: string } | null;
  /** Requests a minute per caller; null sets no limit. */
  rateLimit: number | null;
  /** Bytes that the body of a request may have, but for checklists (DECISIONS D2.3). */
  maxBody: number;
  maxConnections: number;
  /** Seconds that a request may take to arrive. */
  requestTimeout: number;
  /** Whether `/metrics` is there. */
  metrics: boolean;
  /** The origins that may read answers in a browser; none by default. */
  corsOrigins: readonly string[];
  /** Addresses and networks (CIDR) whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
  auditFile: string;
  /** What a failed write of the audit stream means: what must be audited is refused, or goes on. */
  auditFailure: 'stop' | 'continue';
  /** The classification banner of pages and exports; null for none. */
  banner: string | null;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const localName = 'gapstone';

/** Every variable that is read (DECISIONS D21): nothing else of the environment is seen here. */
const settings = [
  'GAPSTONE_DB',
  'GAPSTONE_HOST',
  'GAPSTONE_PORT',
  'GAPSTONE_JWKS',
  'GAPSTONE_ISSUER',
  'GAPSTONE_AUDIENCE',
  'GAPSTONE_CRON_SECRET',
  'GAPSTONE_PLANTS',
  'GAPSTONE_TLS_CERT',
  'GAPSTONE_TLS_KEY',
  'GAPSTONE_LOG_LEVEL',
  'GAPSTONE_RATE_LIMIT',
  'GAPSTONE_CLAIM_SUB',
  'GAPSTONE_CLAIM_EMAIL',
  'GAPSTONE_CLAIM_ORG',
  'GAPSTONE_CLAIM_ENTITLEMENTS',
  'GAPSTONE_KEY_FILE',
  'GAPSTONE_AUDIT_FILE',
  'GAPSTONE_AUDIT_FAILURE',
  'GAPSTONE_BANNER',
  'GAPSTONE_CORS_ORIGINS',
  'GAPSTONE_TRUSTED_PROXIES',
  'GAPSTONE_METRICS',
  'GAPSTONE_MAX_BODY',
  'GAPSTONE_MAX_CONNECTIONS',
  'GAPSTONE_REQUEST_TIMEOUT',
] as const;

type Setting = (typeof settings)[number];

/** The environment with the known variables alone: reading another does not compile. */
type Environment = { readonly [Name in Setting]?: string | undefined };

/** A shorter secret than this can be guessed; it is told of, not refused. */
const leastSecret = 16;
const mostNames = 20;
const longestName = 64;

/** The flags that stand above the environment. */
export interface Flags {
  db?: string | undefined;
  host?: string | undefined;
  port?: string | undefined;
}

/**
 * Reads flags and environment into one frozen object; the only reader of the environment. Flags win over
 * environment, environment over defaults. Throws `CommandError` that names the setting that is wrong (D21).
 */
export function readConfig(flags: Flags = {}, env: Environment = process.env): Readonly<Config> {
  const text = (name: Setting, fallback: string) => {
    const value = env[name];
    if (value !== undefined && value.trim() === '') throw new CommandError(`${name} is set but empty`, 2);
    return value ?? fallback;
  };
  for (const [name, value] of Object.entries(flags)) {
    if (value === '') throw new CommandError(`--${name} is empty`, 2);
  }
  const db = flags.db ?? text('GAPSTONE_DB', 'gapstone.db');
  const jwks = env.GAPSTONE_JWKS === undefined ? null : text('GAPSTONE_JWKS', '');
  if (jwks !== null && (env.GAPSTONE_ISSUER === undefined || env.GAPSTONE_AUDIENCE === undefined)) {
    throw new CommandError('GAPSTONE_JWKS also needs GAPSTONE_ISSUER and GAPSTONE_AUDIENCE: set both', 2);
  }
  if (jwks !== null && !statSync(jwks, { throwIfNoEntry: false })?.isFile()) {
    throw new CommandError(`GAPSTONE_JWKS is not a file: ${jwks}`, 2);
  }
  return Object.freeze({
    db,
    host: flags.host ?? text('GAPSTONE_HOST', '127.0.0.1'),
    port: readPort(flags.port, () => text('GAPSTONE_PORT', '8080')),
    jwks,
    issuer: text('GAPSTONE_ISSUER', localName),
    audience: text('GAPSTONE_AUDIENCE', localName),
    claims: {
      sub: text('GAPSTONE_CLAIM_SUB', 'sub'),
      email: text('GAPSTONE_CLAIM_EMAIL', 'email'),
      org: text('GAPSTONE_CLAIM_ORG', 'org'),
      entitlements: text('GAPSTONE_CLAIM_ENTITLEMENTS', 'entitlements'),
    },
    keyFile: text('GAPSTONE_KEY_FILE', join(dirname(db), 'gapstone-key.json')),
    keyFileIsGiven: env.GAPSTONE_KEY_FILE !== undefined,
    logLevel: readLogLevel(text('GAPSTONE_LOG_LEVEL', 'info')),
    plants: readSwitch('GAPSTONE_PLANTS', text('GAPSTONE_PLANTS', 'on')),
    cronSecret: readSecret('GAPSTONE_CRON_SECRET', env.GAPSTONE_CRON_SECRET),
    tls: readTls(env),
    rateLimit: readRateLimit(text('GAPSTONE_RATE_LIMIT', 'off')),
    maxBody: readWhole('GAPSTONE_MAX_BODY', text('GAPSTONE_MAX_BODY', '1048576'), 1024, 64 * 1024 * 1024),
    maxConnections: readWhole('GAPSTONE_MAX_CONNECTIONS', text('GAPSTONE_MAX_CONNECTIONS', '1000'), 1, 65535),
    requestTimeout: readWhole('GAPSTONE_REQUEST_TIMEOUT', text('GAPSTONE_REQUEST_TIMEOUT', '30'), 1, 3600),
    metrics: readSwitch('GAPSTONE_METRICS', text('GAPSTONE_METRICS', 'on')),
    corsOrigins: readList('GAPSTONE_CORS_ORIGINS', env.GAPSTONE_CORS_ORIGINS, readOrigin),
    trustedProxies: readList('GAPSTONE_TRUSTED_PROXIES', env.GAPSTONE_TRUSTED_PROXIES, (entry) =>
      isNetwork(entry) ? entry : null,
    ),
    auditFile: text('GAPSTONE_AUDIT_FILE', join(dirname(db), 'gapstone-audit.jsonl')),
    auditFailure: readAuditFailure(text('GAPSTONE_AUDIT_FAILURE', 'stop')),
    banner: readBanner(env.GAPSTONE_BANNER),
  });
}

/** Something of the configuration that an operator should know of though it stops nothing: a log line. */
export interface ConfigWarning {
  msg: string;
  fields: Record<string, unknown>;
}

/**
 * What is odd but not wrong: variables that begin as ours and are none (most likely a slip of the pen), and a cron secret
 * that is short. Names alone, bounded in number and length; never a value.
 */
export function configWarnings(config: Config, env: NodeJS.ProcessEnv = process.env): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  const isKnown = (name: string) => (settings as readonly string[]).includes(name);
  const unknown = Object.keys(env).filter((name) => name.startsWith('GAPSTONE_') && !isKnown(name));
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

function shortened(name: string): string {
  return printable(name, longestName) + (name.length > longestName ? '…' : '');
}

function readTls(env: Environment): Config['tls'] {
  const { GAPSTONE_TLS_CERT: cert, GAPSTONE_TLS_KEY: key } = env;
  if (cert === undefined && key === undefined) return null;
  if (!cert || !key) {
    throw new CommandError('GAPSTONE_TLS_CERT and GAPSTONE_TLS_KEY must both be set, and not be empty', 2);
  }
  for (const [name, file] of Object.entries({ GAPSTONE_TLS_CERT: cert, GAPSTONE_TLS_KEY: key })) {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
      throw new CommandError(`${name} is not a file: ${file}`, 2);
    }
  }
  return { cert, key };
}

function readRateLimit(text: string): number | null {
  if (text.toLowerCase() === 'off') return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError(
    `GAPSTONE_RATE_LIMIT must be off or a number of requests a minute, not "${text.slice(0, 40)}"`,
    2,
  );
}

function readWhole(name: string, text: string, least: number, most: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new CommandError(`${name} must be a number from ${least} to ${most}, not "${text.slice(0, 40)}"`, 2);
}

/** The entries of a list divided by commas; an empty entry is refused. */
function readList(
  name: string,
  text: string | undefined,
  readOne: (entry: string) => string | null,
): readonly string[] {
  if (text === undefined) return Object.freeze([]);
  const entries = text.split(',').map((entry) => entry.trim());
  return Object.freeze(
    entries.map((entry) => {
      const read = readOne(entry);
      if (read === null) throw new CommandError(`${name} has an invalid entry: "${entry.slice(0, 64)}"`, 2);
      return read;
    }),
  );
}

/** An exact origin as browsers send it; `*` is none: answers that need a token are not for everybody. */
function readOrigin(entry: string): string | null {
  if (!/^https?:\/\/[^/?#\\\s*]+$/i.test(entry) || !URL.canParse(entry)) return null;
  const { origin, username, password } = new URL(entry);
  return username || password ? null : origin;
}

function readAuditFailure(text: string): Config['auditFailure'] {
  if (text === 'stop' || text === 'continue') return text;
  throw new CommandError(`GAPSTONE_AUDIT_FAILURE must be stop or continue, not "${text.slice(0, 40)}"`, 2);
}

/** One line of text that fits a page's edge. */
function readBanner(text: string | undefined): string | null {
  if (text === undefined) return null;
  const banner = text.trim();
  if (banner.length >= 1 && banner.length <= 200 && banner.isWellFormed() && !/\p{C}/u.test(banner))
    return banner;
  throw new CommandError('GAPSTONE_BANNER must be one line of 1 to 200 characters', 2);
}

function readPort(flag: string | undefined, variable: () => string): number {
  const text = flag ?? variable();
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  const name = flag === undefined ? 'GAPSTONE_PORT' : '--port';
  // Kubernetes sets NAME_PORT in every pod for a service of that name.
  const why = /^(?:tcp|udp|sctp):\/\//.test(text)
    ? '. Kubernetes sets this value for a service named gapstone: set the variable yourself, or set enableServiceLinks: false in the pod'
    : '';
  throw new CommandError(`${name} must be a number from 0 to 65535, not "${text.slice(0, 40)}"${why}`, 2);
}

function readSwitch(name: string, text: string): boolean {
  if (/^(?:on|off)$/i.test(text)) return text.toLowerCase() === 'on';
  throw new CommandError(`${name} must be on or off, not "${text.slice(0, 40)}"`, 2);
}

/** A secret that an Authorization header can carry; its text never enters a message. */
function readSecret(name: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new CommandError(`${name} must be one or more visible ASCII characters, without spaces`, 2);
}

function readLogLevel(text: string): LogLevel {
  if (text === 'debug' || text === 'info' || text === 'warn' || text === 'error') return text;
  throw new CommandError(
    `GAPSTONE_LOG_LEVEL must be debug, info, warn or error, not "${text.slice(0, 40)}"`,
    2,
  );
}
