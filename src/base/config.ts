import { dirname, join, parse, resolve } from 'node:path';
import { z } from 'zod';
import { isNetwork } from './addresses.ts';
import { CommandError } from './errors.ts';
import { statIfThere } from './files.ts';
import { dataFolder, readSettingsFile } from './installation.ts';
import { printable } from './text.ts';

/** The error for a wrong value: what it must be, and its beginning. Not for secrets. */
const must = (what: string, explain: (text: string) => string = () => '') => ({
  error: ({ input }: { input?: unknown }) =>
    `must be ${what}, not "${String(input).slice(0, 40)}"${explain(String(input))}`,
});
const wrongEntry = {
  error: ({ input }: { input?: unknown }) => `has an invalid entry: "${String(input).slice(0, 64)}"`,
};

const filled = z.string().refine((text) => text.trim() !== '', 'is set but empty');
const choice = <const Names extends readonly string[]>(names: Names, what: string) =>
  filled.pipe(z.enum(names, must(what)));
const onOff = filled.pipe(z.stringbool({ truthy: ['on'], falsy: ['off'], ...must('on or off') }));
const whole = (least: number, most: number, explain?: (text: string) => string) =>
  filled.pipe(
    z
      .string()
      .refine(
        (text) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most,
        must(`a number from ${least} to ${most}`, explain),
      )
      .transform(Number),
  );
/** A path to an existing file or folder. A missing permission is reported as such (rule D44.4). */
const leadsTo = (what: 'file' | 'folder') =>
  filled.check((context) => {
    try {
      const stat = statIfThere(context.value);
      if (what === 'file' ? stat?.isFile() : stat?.isDirectory()) return;
      context.issues.push({
        code: 'custom',
        input: context.value,
        message: `is not a ${what}: ${context.value}`,
      });
    } catch (error) {
      context.issues.push({
        code: 'custom',
        input: context.value,
        message: `is wrong: ${(error as Error).message}`,
      });
    }
  });
const file = leadsTo('file');
const folder = leadsTo('folder').transform((path) => resolve(path));
const list = <Entry extends z.ZodType<string, string>>(entry: Entry) =>
  z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(entry))
    .default([]);

// Kubernetes sets NAME_PORT in every pod for a service of that name.
const serviceLink = (text: string) =>
  /^(?:tcp|udp|sctp):\/\//.test(text)
    ? '. Kubernetes sets this value for a service named gapstone: set the variable yourself, or set enableServiceLinks: false in the pod'
    : '';

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
const names = Object.keys(settings.shape) as Setting[];
export const variableOf = (name: Setting) => `GAPSTONE_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
const flagOf = (name: Setting) => `--${name.replace(/[A-Z]/g, '-$&').toLowerCase()}`;
export const variables: readonly string[] = names.map(variableOf);
/** Settings whose values are never shown. */
const secrets: readonly Setting[] = ['cronSecret'];

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
  for (const name of names) given[name] = fromFlags[name] ?? env[variableOf(name)];
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
  const { tlsCert, tlsKey, claimSub, claimEmail, claimOrg, claimEntitlements, ...rest } = data;
  if ((tlsCert === null) !== (tlsKey === null))
    throw new CommandError('GAPSTONE_TLS_CERT and GAPSTONE_TLS_KEY must both be set', 2);
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

/** A setting that counts: its variable, its value as text (null: none, or a secret), and where it comes from. */
export interface Counted {
  name: string;
  value: string | null;
  from: 'flag' | 'environment' | 'file' | 'default';
}

/** What counts of each setting, and from where (rule D44.3); a secret has no value here. */
export function countedSettings(
  config: Config,
  flags: Flags,
  file: Record<string, string>,
  env: NodeJS.ProcessEnv = process.env,
): Counted[] {
  const { claims, tls, ...rest } = config;
  const values: Record<Setting, unknown> = {
    ...rest,
    claimSub: claims.sub,
    claimEmail: claims.email,
    claimOrg: claims.org,
    claimEntitlements: claims.entitlements,
    tlsCert: tls?.cert ?? null,
    tlsKey: tls?.key ?? null,
  };
  const flagged: Partial<Record<Setting, string | undefined>> = { ...flags, usersDb: flags['users-db'] };
  return names.map((name) => {
    const variable = variableOf(name);
    const from =
      flagged[name] !== undefined
        ? 'flag'
        : env[variable] !== undefined
          ? 'environment'
          : file[variable] !== undefined
            ? 'file'
            : 'default';
    return { name: variable, value: secrets.includes(name) ? null : shown(name, values[name]), from };
  });
}

function shown(name: Setting, value: unknown): string | null {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.length === 0 ? null : value.join(',');
  if (value === null || value === undefined) return name === 'rateLimit' ? 'off' : null;
  return String(value);
}

const shortened = (name: string) => printable(name, longestName) + (name.length > longestName ? '…' : '');

/** Whether a text is an exact origin as browsers send it; `*` is not, because some answers need a token. */
function isOrigin(entry: string): boolean {
  if (!/^https?:\/\/[^/?#\\\s*]+$/i.test(entry) || !URL.canParse(entry)) return false;
  const { username, password } = new URL(entry);
  return username === '' && password === '';
}
