import { dirname, join, parse, resolve } from 'node:path';
import type { z } from 'zod';
import { CommandError } from './errors.ts';
import { readSettingsFile } from './installation.ts';
import { optionOf, type Setting, secrets, settingNames, settings, variableOf } from './settings.ts';
import { printable } from './text.ts';

/** The default for users' data: `<name>-users.db` beside the catalog (rule D23.1). */
function usersBeside(db: string): string {
  if (db === ':memory:') return db;
  const { dir, name } = parse(db);
  return join(dir, `${name}-users.db`);
}

/** Flags, which override the environment. */
export type Flags = { [Name in 'db' | 'usersDb' | 'host' | 'port']?: string | undefined };

type Given = { [Name in Setting]?: string | undefined };
const settingsOf = ({ db, usersDb, host, port }: Flags): Given => ({ db, usersDb, host, port });

/** The configuration of rule D21, checked and frozen. */
export type Config = ReturnType<typeof readConfig>;
export type LogLevel = Config['logLevel'];

/** The error for wrong settings. */
const wrong = (message: string) => new CommandError(message, 2);

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
  const fromFlags = settingsOf(flags);
  const given: Given = {};
  for (const name of settingNames) given[name] = fromFlags[name] ?? env[variableOf(name)];
  if (given.jwks !== undefined && (given.issuer === undefined || given.audience === undefined))
    throw wrong('GAPSTONE_JWKS also needs GAPSTONE_ISSUER and GAPSTONE_AUDIENCE: set both');
  const { data, error } = settings.safeParse(given);
  if (error) {
    const { path, message } = error.issues[0]!;
    const name = path[0] as Setting;
    throw wrong(`${fromFlags[name] === undefined ? variableOf(name) : optionOf(name)} ${message}`);
  }
  checkTogether(data);
  const usersDb = data.usersDb ?? usersBeside(data.db);
  if (data.db !== ':memory:' && resolve(usersDb) === resolve(data.db))
    throw wrong('--db and --users-db name the same file');
  if (data.inbox !== null && data.db === ':memory:') throw wrong('GAPSTONE_INBOX needs a catalog in a file');
  const beside = (file: string) => join(dirname(usersDb), file);
  const { tlsCert, tlsKey, claimSub: sub, claimEmail: email, claimOrg: org } = data;
  const config = Object.freeze({
    ...data,
    usersDb,
    claims: { sub, email, org, entitlements: data.claimEntitlements },
    keyFile: data.keyFile ?? beside('gapstone-key.json'),
    /** Whether the operator set it; the default is beside users' data. */
    keyFileIsGiven: data.keyFile !== null,
    tls: tlsCert !== null && tlsKey !== null ? { cert: tlsCert, key: tlsKey } : null,
    auditFile: data.auditFile ?? beside('gapstone-audit.jsonl'),
  });
  for (const own of [config.db, config.usersDb, config.keyFile, config.auditFile])
    if (data.inbox !== null && resolve(own).startsWith(join(data.inbox, '/')))
      throw wrong(`GAPSTONE_INBOX must not hold our own files: ${own}`);
  return config;
}

/** Settings that are of no use without others (rules D43.1 to D43.3). */
const needs: [Setting, ...Setting[]][] = [
  ['certHeader', 'tlsClientCa', 'trustedProxies'],
  ['tlsCrl', 'tlsClientCa'],
  ['people', 'tlsClientCa'],
  ['oidcAuthorize', 'oidcClientId', 'publicUrl', 'jwks'],
  ['oidcClientId', 'oidcAuthorize'],
];

/** Throws `CommandError` for settings that need others, or exclude them. */
function checkTogether(given: z.output<typeof settings>): void {
  const has = (name: Setting) =>
    given[name] !== null && (!Array.isArray(given[name]) || given[name].length > 0);
  if (has('tlsCert') !== has('tlsKey'))
    throw wrong('GAPSTONE_TLS_CERT and GAPSTONE_TLS_KEY must both be set');
  for (const [name, ...others] of needs) {
    const missing = others.filter((other) => !has(other)).map(variableOf);
    if (has(name) && missing.length > 0)
      throw wrong(`${variableOf(name)} also needs ${missing.join(' and ')}`);
  }
  if (has('tlsClientCa') && !has('tlsCert') && !has('certHeader'))
    throw wrong('GAPSTONE_TLS_CLIENT_CA also needs GAPSTONE_TLS_CERT or GAPSTONE_CERT_HEADER');
  if (!has('oidcAuthorize')) return;
  if (!given.publicUrl!.startsWith('https:'))
    throw wrong('GAPSTONE_OIDC_AUTHORIZE needs a GAPSTONE_PUBLIC_URL that begins with https://');
  if (given.oidcClientId === given.audience)
    throw wrong(
      'GAPSTONE_OIDC_CLIENT_ID must not be GAPSTONE_AUDIENCE: a token for one would be one for the other',
    );
  if (!has('tlsCert') && !has('trustedProxies'))
    throw wrong('GAPSTONE_OIDC_AUTHORIZE also needs GAPSTONE_TLS_CERT or GAPSTONE_TRUSTED_PROXIES');
}

/** Warns of unknown GAPSTONE_ variables and a short cron secret; the warnings contain no values. */
export function configWarnings(config: Config, env: NodeJS.ProcessEnv = environment()) {
  const warnings: { msg: string; fields: { names?: string[] } }[] = [];
  const known = new Set(settingNames.map(variableOf));
  const unknown = Object.keys(env).filter((name) => name.startsWith('GAPSTONE_') && !known.has(name));
  const names = unknown
    .sort()
    .slice(0, mostNames)
    .map((name) => printable(name, longestName));
  if (names.length > 0) warnings.push({ msg: 'unknown environment variables', fields: { names } });
  if (config.cronSecret !== null && config.cronSecret.length < leastSecret)
    warnings.push({ msg: `GAPSTONE_CRON_SECRET has fewer than ${leastSecret} characters`, fields: {} });
  return warnings;
}

/** A setting as `gapstone config` prints it: its variable, its value as text (null: none, or a secret), its origin. */
export interface ShownSetting {
  name: string;
  value: string | null;
  from: 'flag' | 'environment' | 'file' | 'default';
}

/** All settings with the values that count, and where each comes from (rule D44.3). `file` has those of `gapstone.env`. */
export function shownSettings(config: Config, flags: Flags, file: Record<string, string>): ShownSetting[] {
  const fromFlags = settingsOf(flags);
  const originOf = (name: Setting): ShownSetting['from'] => {
    if (fromFlags[name] !== undefined) return 'flag';
    if (process.env[variableOf(name)] !== undefined) return 'environment';
    return file[variableOf(name)] === undefined ? 'default' : 'file';
  };
  return settingNames.map((name) => ({
    name: variableOf(name),
    value: secrets.includes(name) ? null : shownValue(name, config[name]),
    from: originOf(name),
  }));
}

function shownValue(name: Setting, value: unknown): string | null {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (value === null) return name === 'rateLimit' ? 'off' : null;
  // An empty list is no value.
  return String(value) || null;
}
