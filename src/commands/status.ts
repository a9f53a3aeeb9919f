import { readConfig } from '../base/config.ts';
import { packageVersion } from '../base/root.ts';
import { count } from '../base/text.ts';
import { withEdition } from '../catalog/controls/frameworks.ts';
import { type FileStatus, loadedStatus, type Status } from '../catalog/loaded-status.ts';
import { catalogDigest, storedDigest } from '../db/digest.ts';
import { command, print } from './command.ts';
import { openToLook } from './open-to-look.ts';

export const statusCommand = () =>
  command('status', 'show the content: editions, counts, sizes, the last imports, the digest', {
    examples: ['gapstone status --json'],
  }).action((options) => {
    using db = openToLook(readConfig(options));
    const { digest, ...rest } = db.read(() => ({
      digest: storedDigest(db.sqlite) ?? catalogDigest(db),
      ...loadedStatus(db),
    }));
    const report = { version: packageVersion, digest, ...rest };
    print(options.json, report, humanStatus(report));
  });

function humanStatus(status: Status & { version: string; digest: string }): string[] {
  const { catalog, stigs, crosswalk, roles } = status;
  const { file, bytes, logBytes, schema, ...counts } = status.users;
  const rows: [string, string][] = [
    ['gapstone', status.version],
    ['catalog', describeFile(catalog)],
    [
      'generation',
      catalog.changedAt === null
        ? 'nothing was imported yet'
        : `${catalog.generation}, of ${catalog.changedAt}`,
    ],
    ['digest', status.digest],
    [
      'STIGs',
      `${stigs.stigs}, SRGs ${stigs.srgs}, ${stigs.releases} releases, ${stigs.findings} findings, newest ${stigs.newestReleaseDate ?? 'none'}`,
    ],
    ...status.frameworks.map((each): [string, string] => [
      each.framework,
      `${withEdition(each.version, each.edition)}: ${each.controls}${each.withdrawn > 0 ? `, withdrawn ${each.withdrawn}` : ''}${each.default ? '' : ' (on request)'}`,
    ]),
    ['crosswalk', `${crosswalk.edges} edges, ${crosswalk.paths} paths, ${crosswalk.decisions} decisions`],
    ['occupations', `${roles.occupations} (${roles.occupationEdition ?? 'none'})`],
    ['work roles', `${roles.workRoles} (${roles.workRoleEdition ?? 'none'})`],
    ['role mappings', String(roles.mappings)],
    ['documents', String(status.documents)],
    ["users' data", describeFile({ file, bytes, logBytes, schema })],
    [
      'users',
      Object.entries(counts)
        .map(([name, number]) => `${name} ${number}`)
        .join(', '),
    ],
    ...status.imports.map((each): [string, string] => [
      `import ${each.run}`,
      `${each.finishedAt}: ${count(each.sources, 'source')}, ${each.imported} imported, ${each.unchanged} unchanged, ${each.superseded} superseded, ${each.skipped} skipped, ${each.rejected} rejected`,
    ]),
    ...status.readAgain.map((source): [string, string] => ['import again', source]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`);
}

const describeFile = ({ file, bytes, logBytes, schema }: FileStatus) =>
  `${file}, ${megabytes(bytes)}, log ${megabytes(logBytes)}, schema ${schema}`;

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
