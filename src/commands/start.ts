import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../base/config.ts';
import { packageRoot, packageVersion } from '../base/root.ts';
import { count } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { catalog } from '../db/tables.ts';
import { openForCommand, upgradeForCommand } from './audit.ts';
import { auditedImport } from './audited-import.ts';
import { type Command, flag, parse, text } from './command.ts';
import { createProgress } from './progress.ts';
import { serve } from './serve.ts';
import { auditedToken } from './token.ts';

const tokenLifetime = 8 * 3600;

export const startCommand: Command = {
  name: 'start',
  summary: 'create what is missing, import the shipped data once, and serve',
  usage: 'gapstone start [--host H] [--port P] [--no-token] [--db FILE] [--users-db FILE]',
  help: [
    '--host H    address to listen on (127.0.0.1)',
    '--port P    port to listen on (8080; 0 picks a free one)',
    '--no-token  do not print a token (use it when others can read the logs)',
  ],
  async run(args) {
    const { values } = parse(args, [], { host: text, port: text, 'no-token': flag });
    const config = readConfig(values);
    const open = async () => {
      await upgradeForCommand(config);
      await importShippedData(config);
      return sayCreated(config.usersDb, () => openForCommand(config, { create: true, checkUnclean: true }));
    };
    return serve(config, open, (url) => welcome(config, url, values['no-token'] ?? false));
  },
};

/** Says so when a file is there that was not there before it was opened. */
async function sayCreated(file: string, open: () => Promise<Database>): Promise<Database> {
  const wasThere = existsSync(file);
  const db = await open();
  if (!wasThere && existsSync(file)) process.stderr.write(`created ${file}\n`);
  return db;
}

/** Imports the package's `data` folder unless this very content was imported before. */
async function importShippedData(config: Config): Promise<void> {
  const options = { catalogAlone: true, create: true, checkUnclean: true };
  using db = await sayCreated(config.db, () => openForCommand(config, options));
  const folder = join(packageRoot, 'data');
  const digest = folderDigest(folder);
  if (db.orm.select().from(catalog).get()!.shippedData === digest) return;
  process.stderr.write(`importing the shipped data of ${folder}\n`);
  const onProgress = createProgress((line) => process.stderr.write(line));
  const { summary, lines } = await auditedImport(config, db, [folder], { onProgress });
  db.orm.update(catalog).set({ shippedData: digest }).run();
  for (const line of lines.filter((each) => each.outcome === 'rejected')) {
    process.stderr.write(`rejected ${line.source}: ${line.reason}\n`);
  }
  const refused = summary.rejected > 0 ? `, ${summary.rejected} rejected` : '';
  process.stderr.write(`imported the shipped data: ${count(summary.imported, 'source')}${refused}\n`);
}

function folderDigest(folder: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) {
    const bytes = readFileSync(file);
    hash.update(`${file.slice(folder.length)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

async function welcome(config: Config, url: string, withoutToken: boolean): Promise<void> {
  const lines = [`Gapstone ${packageVersion} serves ${config.db} at ${url}`];
  if (config.jwks !== null)
    lines.push('Get tokens from the identity provider whose keys are in GAPSTONE_JWKS.');
  else if (!withoutToken) {
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
  process.stderr.write(`${lines.join('\n')}\n`);
}
