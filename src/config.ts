import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError } from './errors.ts';

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
  logLevel: LogLevel;
  /** The secret of the purge endpoint; null turns it off. */
  cronSecret: string | null;
  /** Whether the sample endpoint is there. */
  plants: boolean;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

const localName = 'gapstone';

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
export function readConfig(flags: Flags = {}, env: NodeJS.ProcessEnv = process.env): Readonly<Config> {
  const text = (name: string, fallback: string) => {
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
    throw new CommandError('GAPSTONE_JWKS needs GAPSTONE_ISSUER and GAPSTONE_AUDIENCE beside it', 2);
  }
  if (jwks !== null && !statSync(jwks, { throwIfNoEntry: false })?.isFile()) {
    throw new CommandError(`GAPSTONE_JWKS names no file: ${jwks}`, 2);
  }
  return Object.freeze({
    db,
    host: flags.host ?? text('GAPSTONE_HOST', '127.0.0.1'),
    port: readPort(flags.port ?? text('GAPSTONE_PORT', '8080')),
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
    logLevel: readLogLevel(text('GAPSTONE_LOG_LEVEL', 'info')),
    plants: readSwitch('GAPSTONE_PLANTS', text('GAPSTONE_PLANTS', 'on')),
    cronSecret: readSecret('GAPSTONE_CRON_SECRET', env.GAPSTONE_CRON_SECRET),
  });
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65535) {
    throw new CommandError(`the port must be a number from 0 to 65535, not "${text.slice(0, 40)}"`, 2);
  }
  return Number(text);
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
