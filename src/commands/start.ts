import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../../importers/discover.ts';
import { type Config, readConfig } from '../base/config.ts';
import { isThere } from '../base/files.ts';
import { packageRoot, packageVersion } from '../base/root.ts';
import { count } from '../base/text.ts';
import { appliedBundles } from '../content/trust.ts';
import type { Database } from '../db/database.ts';
import { forgetInboxContents, recordShippedSources, shippedSources } from '../db/site-records.ts';
import { openForCommand, upgradeForCommand, withUsers } from './audit.ts';
import { auditedImport, createProgress } from './audited-import.ts';
import { command, hostOption, portOption, serverSettings, tell } from './command.ts';
import { serve } from './serve.ts';
import { auditedToken } from './token.ts';

const tokenLifetime = 8 * 3600;

export const startCommand = () =>
  command('start', 'create what is missing, import the shipped data once, and serve', {
    settings: serverSettings,
    examples: ['gapstone start', 'gapstone start --host 0.0.0.0 --port 8443 --no-token'],
  })
    .addOption(hostOption)
    .addOption(portOption)
    .option('--no-token', 'do not print a token (use it when others can read the logs)')
    .option('--no-samples', 'import the shipped facts without the samples (GAPSTONE_SAMPLES=off)')
    .action((options) => {
      const config = readConfig(options);
      const open = async () => {
        await upgradeForCommand(config);
        return tellIfCreated(config.usersDb, async () => {
          await importShippedData(config, config.samples && options.samples);
          return openForCommand(config, { create: true, checkUnclean: true });
        });
      };
      return serve(config, open, (url) => welcome(config, url, options.token));
    });

/** Opens a database, and reports whether it created the file. */
async function tellIfCreated(file: string, open: () => Promise<Database>): Promise<Database> {
  const wasThere = isThere(file);
  const db = await open();
  if (!wasThere && isThere(file)) tell(`created ${file}`);
  return db;
}

const sampleFolders = ['regulatory', 'stigs'];

/**
 * Imports the package's data, or its facts alone, unless it is unchanged since its last import or the catalog is a
 * bundle's (rule D44.1).
 */
async function importShippedData(config: Config, samples: boolean): Promise<void> {
  const wasThere = isThere(config.db);
  const options = { catalogAlone: true, create: true, checkUnclean: true };
  using db = await tellIfCreated(config.db, () => openForCommand(config, options));
  const isOfBundle = appliedBundles(config.usersDb).some(({ state }) => state !== 'rolled-back');
  // A killed start may have left an empty catalog; a bundle's catalog never has generation 0.
  const isNew =
    !wasThere || (isOfBundle && db.sqlite.prepare('SELECT generation FROM catalog').pluck().get() === 0);
  if (isNew && isThere(config.usersDb)) await withUsers(config, forgetInboxContents);
  // Checked after opening: if another catalog replaces this one now, the write fails.
  if (!isNew && isOfBundle) return;
  const folder = join(packageRoot, 'data');
  const facts = readdirSync(folder).filter((name) => !sampleFolders.includes(name));
  const paths = samples ? [folder] : facts.sort().map((name) => join(folder, name));
  const digest = digestOfPaths(folder, paths);
  const isImported = db.sqlite.prepare('SELECT shipped_data FROM catalog').pluck().get() === digest;
  const isKept = config.usersDb === ':memory:' || shippedSources(config.usersDb).size > 0;
  if (isImported && isKept) return;
  tell(`importing the shipped data of ${folder}`);
  const onProgress = createProgress();
  const { summary, lines } = await auditedImport(config, db, paths, { onProgress });
  const stored = lines.filter(({ outcome }) => outcome !== 'rejected' && outcome !== 'skipped');
  await withUsers(config, (users) =>
    recordShippedSources(
      users,
      stored.flatMap(({ sha256 }) => sha256 ?? []),
    ),
  );
  db.sqlite.prepare('UPDATE catalog SET shipped_data = ?').run(digest);
  for (const line of lines.filter((each) => each.outcome === 'rejected')) {
    tell(`rejected ${line.source}: ${line.reason}`);
  }
  const refused = summary.rejected > 0 ? `, ${summary.rejected} rejected` : '';
  tell(`imported the shipped data: ${count(summary.imported, 'source')}${refused}`);
}

/** SHA-256 over the names and bytes of all files at the paths. */
function digestOfPaths(folder: string, paths: string[]): string {
  const hash = createHash('sha256');
  for (const { path } of listFiles(paths)) {
    const bytes = readFileSync(path);
    hash.update(`${path.slice(folder.length)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

async function welcome(config: Config, url: string, withToken: boolean): Promise<void> {
  const lines = [`Gapstone ${packageVersion} serves ${config.db} at ${url}`];
  if (config.jwks !== null)
    lines.push('Get tokens from the identity provider whose keys are in GAPSTONE_JWKS.');
  else if (withToken) {
    const request = {
      subject: 'local',
      organization: 'local',
      entitlements: ['regdoc', 'occ'],
      lifetime: tokenLifetime,
    };
    const token = await auditedToken(config, request);
    lines.push(
      'Try it (the token is valid for 8 hours):',
      `curl -H 'Authorization: Bearer ${token}' ${url}/api/v1/stigs`,
      `Or open ${url} in a browser and sign in with this token.`,
    );
  }
  tell(...lines);
}
