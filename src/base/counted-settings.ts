import {
  type Config,
  environment,
  type Flags,
  type Setting,
  secrets,
  settingNames,
  variableOf,
} from './config.ts';

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
  env: NodeJS.ProcessEnv = environment({}),
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
  return settingNames.map((name) => {
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
