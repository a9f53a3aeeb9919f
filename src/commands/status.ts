import { readConfig } from '../base/config.ts';
import { packageVersion } from '../base/root.ts';
import { count } from '../base/text.ts';
import { withEdition } from '../catalog/controls/frameworks.ts';
import { type FileStatus, loadedStatus, type Status } from '../catalog/loaded-status.ts';
import { catalogDigest, storedDigest } from '../db/digest.ts';
import { type Command, openToLook, parse, print } from './command.ts';

export const statusCommand: Command = {
  name: 'status',
  summary: 'show the content: editions, counts, sizes, the last imports, the digest',
  usage: 'gapstone status [--db FILE] [--users-db FILE] [--json]',
  help: ['--json    the same as JSON'],
  examples: ['gapstone status --json'],
  async run(args) {
    const { values } = parse(args, [], {});
    using db = openToLook(readConfig(values));
    const { digest, ...rest } = db.read(() => ({
      digest: storedDigest(db.sqlite) ?? catalogDigest(db),
      ...loadedStatus(db),
    }));
    const report = { version: packageVersion, digest, ...rest };
    print(values.json, report, humanStatus(report));
    return 0;
  },
};

function humanStatus(status: Status & { version: string; digest: string }): string[] {
  const {
    version,
    digest,
    catalog,
    stigs,
    frameworks,
    crosswalk,
    roles,
    documents,
    users,
    imports,
    readAgain,
  } = status;
  const { file, bytes, logBytes, schema, ...kept } = users;
  const fileRow = (each: FileStatus) =>
    `${each.file}, ${megabytes(each.bytes)}, log ${megabytes(each.logBytes)}, schema ${each.schema}`;
  const rows: [string, string][] = [
    ['gapstone', version],
    ['catalog', fileRow(catalog)],
    [
      'generation',
      catalog.changedAt === null
        ? 'nothing was imported yet'
        : `${catalog.generation}, of ${catalog.changedAt}`,
    ],
    ['digest', digest],
    [
      'STIGs',
      `${stigs.stigs}, SRGs ${stigs.srgs}, ${stigs.releases} releases, ${stigs.findings} findings, newest ${stigs.newestReleaseDate ?? 'none'}`,
    ],
    ...frameworks.map((each): [string, string] => [
      each.framework,
      `${withEdition(each.version, each.edition)}: ${each.controls}${each.withdrawn > 0 ? `, withdrawn ${each.withdrawn}` : ''}${each.default ? '' : ' (on request)'}`,
    ]),
    ['crosswalk', `${crosswalk.edges} edges, ${crosswalk.paths} paths, ${crosswalk.decisions} decisions`],
    ['occupations', `${roles.occupations} (${roles.occupationEdition ?? 'none'})`],
    ['work roles', `${roles.workRoles} (${roles.workRoleEdition ?? 'none'})`],
    ['role mappings', String(roles.mappings)],
    ['documents', String(documents)],
    ["users' data", fileRow({ file, bytes, logBytes, schema })],
    [
      'users',
      Object.entries(kept)
        .map(([name, count]) => `${name} ${count}`)
        .join(', '),
    ],
    ...imports.map((each): [string, string] => [
      `import ${each.run}`,
      `${each.finishedAt}: ${count(each.sources, 'source')}, ${each.imported} imported, ${each.unchanged} unchanged, ${each.superseded} superseded, ${each.skipped} skipped, ${each.rejected} rejected`,
    ]),
  ];
  for (const source of readAgain) rows.push(['import again', source]);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
