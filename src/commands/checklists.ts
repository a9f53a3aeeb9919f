import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { inPrivateFolder, publishNew, sha256OfFile, statIfThere, syncPath } from '../base/files.ts';
import { count } from '../base/text.ts';
import { type StigAmong, stigsAmong, unusualNames } from '../catalog/stigs/host-schema.ts';
import { createStigNameIndex } from '../catalog/stigs/name-index.ts';
import { createStigService } from '../catalog/stigs/queries.ts';
import { readHosts } from '../checklists/host-table.ts';
import {
  type ChecklistZip,
  createChecklistZips,
  streamOfZip,
  type WantedStig,
} from '../checklists/host-zip.ts';
import { checklistsBody } from '../checklists/list-checklists-schema.ts';
import { operatorList } from '../collections/operator-list.ts';
import { asCopyError, requireRoom } from '../db/copy.ts';
import type { Database } from '../db/database.ts';
import { check } from '../http/schema.ts';
import { auditedRun } from './audit.ts';
import { type Command, openToLook, parse, print, required, tell, text, textOf, texts } from './command.ts';

const largestTable = 1024 * 1024;

export const checklistsCommand: Command = {
  name: 'checklists',
  summary: 'make checklists of STIGs for many hosts, as one zip',
  usage: `gapstone checklists (--list ID | --stig SLUG...) --hosts FILE.csv --out FILE.zip [--format ckl|cklb] [--layout stig|host]
                    [--db FILE] [--users-db FILE] [--json]`,
  help: [
    '--list ID      the STIGs of a list, whoever it belongs to',
    '--stig SLUG    a STIG, by slug or benchmark id; more may follow',
    '--hosts FILE   csv with a header: hostName and any of ipAddress, macAddress, fqdn, role, stigs',
    '--out FILE     the zip to create; it must not exist yet',
    '--format F     cklb (default) or ckl',
    '--layout L     stig: a file for each host and STIG (default); host: one for each host',
    '--json         file, bytes, sha256 and the names of the files as JSON',
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: ['gapstone checklists --stig harbor_linux_3 --hosts hosts.csv \\', '  --out checklists.zip'],
  async run(args) {
    const { values, positionals } = parse(args, null, {
      ...{ list: text, stig: texts, hosts: text, out: text, format: text, layout: text },
    });
    if ((values.list === undefined) === (values.stig === undefined))
      throw new CommandError('give either --list ID or --stig SLUG', 2);
    // More arguments after `--stig A` are STIGs too: `--stig A B C`.
    if (values.stig === undefined && positionals.length > 0)
      throw new CommandError(`expected no arguments, got ${positionals.length} arguments`, 2);
    const slugs = [...(values.stig ?? []), ...positionals];
    const out = required(values.out, 'out');
    const table = tableIn(required(values.hosts, 'hosts'));
    const asked = usage(() => check(checklistsBody, { format: values.format, layout: values.layout }));
    const config = readConfig(values);
    using db = openToLook(config);
    const names = createStigNameIndex(db);
    const wanted = wantedOf(db, values.list, slugs);
    const among = stigsAmong(
      names,
      wanted.map(({ slug, version }) => {
        const stig = names.ofSlug(slug);
        return { slug: stig?.slug ?? slug, release: { version: version ?? stig?.version ?? '' } };
      }),
    );
    const hosts = hostsIn(values.hosts!, table, among);
    const make = createChecklistZips(createStigService(db));
    const inCatalog = wanted.filter(({ version }) => version !== '');
    const work = () => write(() => make(inCatalog, { ...asked, hosts }, config.banner), out);
    const event = { action: 'list.checklists', objectType: 'list', objectId: values.list ?? null };
    const made =
      values.list === undefined
        ? await work()
        : await auditedRun(config, event, work, ({ sha256, bytes }) => ({ sha256, bytes }));
    for (const warning of unusualNames(hosts)) tell(warning);
    print(values.json, made, `${made.sha256}  ${made.file}`);
    tell(`${count(made.files.length, 'checklist')}, ${count(made.bytes, 'byte')}`);
    return 0;
  },
};

function tableIn(file: string): string {
  const stat = statIfThere(file);
  if (!stat?.isFile()) throw new CommandError(`there is no file ${file}`);
  if (stat.size > largestTable) throw new CommandError(`${file} is larger than ${largestTable} bytes`);
  return textOf(file);
}

function hostsIn(file: string, table: string, among: StigAmong) {
  const { hosts, problems } = readHosts(table, { mustHaveHeader: true, among });
  if (problems.length > 0) throw new CommandError(`${file}: ${problems.join('; ')}`);
  return hosts;
}

/** The requested STIGs; names those of a list that are not in the catalog. */
function wantedOf(db: Database, list: string | undefined, slugs: string[]): WantedStig[] {
  if (list === undefined) return slugs.map((slug) => ({ slug }));
  const stigs = operatorList(db, list);
  for (const { slug, version } of stigs)
    if (version === '') tell(`${slug} is left out: it is no longer in the catalog`);
  return stigs;
}

/** Turns an error of the application into one of the command: wrong usage by default. */
function usage<T>(work: () => T, exitCode: 1 | 2 = 2): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof AppError ? new CommandError(error.message, exitCode) : error;
  }
}

/** Writes the whole zip, then renames it. Throws `CommandError`, and then leaves no file behind. */
async function write(make: () => ChecklistZip, out: string) {
  const zip = usage(make, 1);
  const { bytes, files } = zip;
  requireRoom(out, bytes);
  try {
    return await inPrivateFolder(out, async (temporary) => {
      const chunks = Readable.fromWeb(streamOfZip(zip) as import('node:stream/web').ReadableStream);
      await pipeline(chunks, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }));
      syncPath(temporary);
      const sha256 = sha256OfFile(temporary);
      publishNew(temporary, out);
      return { file: out, bytes, sha256, files: files.map(({ member }) => member.name) };
    });
  } catch (error) {
    throw asCopyError(out, error as NodeJS.ErrnoException);
  }
}
