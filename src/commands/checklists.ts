import { createWriteStream, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { sha256OfFile, statIfThere } from '../base/files.ts';
import { count } from '../base/text.ts';
import { stigsAmong, unusualNames } from '../catalog/stigs/host-schema.ts';
import { createStigNameIndex } from '../catalog/stigs/name-index.ts';
import { createStigService } from '../catalog/stigs/queries.ts';
import { readHosts } from '../checklists/host-table.ts';
import {
  type ChecklistZip,
  checklistsBody,
  planChecklists,
  type StigChoice,
} from '../checklists/host-zip.ts';
import { streamOfZip } from '../checklists/list-api.ts';
import { createListRows } from '../collections/list-rows.ts';
import { requireRoom, writeNewFile } from '../db/copy.ts';
import type { Database } from '../db/database.ts';
import { check } from '../http/schema.ts';
import { auditedRun } from './audit.ts';
import { command, print, tell, textOf } from './command.ts';
import { openToLook } from './open-to-look.ts';

const largestTable = 1024 * 1024;

export const checklistsCommand = () =>
  command('checklists', 'make checklists of STIGs for many hosts, as one zip', {
    settings: ['auditFile', 'auditFailure'],
    examples: ['gapstone checklists --stig harbor_linux_3 --hosts hosts.csv --out checklists.zip'],
  })
    .option('--list <id>', 'the STIGs of a list, whoever it belongs to')
    .option('--stig <slug...>', 'a STIG, by slug or benchmark id; more may follow')
    .requiredOption(
      '--hosts <file>',
      'csv with a header: hostName and any of ipAddress, macAddress, fqdn, role, stigs',
    )
    .requiredOption('--out <file>', 'the zip to create; it must not exist yet')
    .option('--format <format>', 'cklb (default) or ckl')
    .option('--layout <layout>', 'stig: a file for each host and STIG (default); host: one for each host')
    .action(async ({ list, stig: slugs, hosts: table, out, format, layout, ...options }) => {
      if ((list === undefined) === (slugs === undefined))
        throw new CommandError('give either --list ID or --stig SLUG', 2);
      const form = orCommandError(2, () => check(checklistsBody, { format, layout }));
      const text = tableIn(table);
      const config = readConfig(options);
      using db = openToLook(config);
      const names = createStigNameIndex(db);
      const stigs = list === undefined ? slugs!.map((slug): StigChoice => ({ slug })) : stigsOf(db, list);
      const among = stigsAmong(
        names,
        stigs.map(({ slug, version }) => {
          const stig = names.ofSlug(slug);
          return { slug: stig?.slug ?? slug, release: { version: version ?? stig?.version ?? '' } };
        }),
      );
      const { hosts, problems } = readHosts(text, { mustHaveHeader: true, among });
      if (problems.length > 0) throw new CommandError(`${table}: ${problems.join('; ')}`);
      const service = createStigService(db);
      const inCatalog = stigs.filter(({ version }) => version !== '');
      const plan = () => planChecklists(service, inCatalog, { ...form, hosts }, config.banner);
      const work = () => write(plan, out);
      const event = { action: 'list.checklists', objectType: 'list', objectId: list ?? null };
      const made =
        list === undefined
          ? await work()
          : await auditedRun(config, event, work, ({ sha256, bytes }) => ({ sha256, bytes }));
      for (const warning of unusualNames(hosts)) tell(warning);
      print(options.json, made, `${made.sha256}  ${made.file}`);
      tell(`${count(made.files.length, 'checklist')}, ${count(made.bytes, 'byte')}`);
    });

function tableIn(file: string): string {
  const stat = statIfThere(file);
  if (!stat?.isFile()) throw new CommandError(`there is no file ${file}`);
  if (stat.size > largestTable) throw new CommandError(`${file} is larger than ${largestTable} bytes`);
  return textOf(file);
}

/** The STIGs of an active list; names those that are not in the catalog. Throws `CommandError` for an unknown list. */
function stigsOf(db: Database, list: string): StigChoice[] {
  const stigs = db.read(() => {
    const isActive = db.sqlite.prepare(
      "SELECT 1 FROM bundles WHERE id = ? AND kind = 'list' AND deleted_at IS NULL",
    );
    if (isActive.get(list) === undefined) throw new CommandError(`there is no list ${list.slice(0, 64)}`);
    return createListRows(db).entries(list);
  });
  for (const { slug, version } of stigs)
    if (version === '') tell(`${slug} is left out: it is no longer in the catalog`);
  return stigs;
}

/** Turns an error of the application into one of the command. */
function orCommandError<T>(exitCode: 1 | 2, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof AppError ? new CommandError(error.message, exitCode) : error;
  }
}

/** Writes the whole zip. Throws `CommandError`, and then leaves no file behind. */
async function write(plan: () => ChecklistZip, out: string) {
  const zip = orCommandError(1, plan);
  requireRoom(out, zip.estimatedBytes);
  return writeNewFile(out, async (temporary) => {
    const chunks = Readable.fromWeb(streamOfZip(zip) as import('node:stream/web').ReadableStream);
    await pipeline(chunks, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }));
    const files = zip.files.map(({ name }) => name);
    return { file: out, bytes: statSync(temporary).size, sha256: sha256OfFile(temporary), files };
  });
}
