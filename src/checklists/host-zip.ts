import { gzipSync } from 'node:zlib';
import { z } from '@hono/zod-openapi';
import { badRequest } from '../base/errors.ts';
import { stableId } from '../base/ids.ts';
import { compareCodePoints, fold } from '../base/text.ts';
import { compressionLevel } from '../base/zip.ts';
import { cklEnd, cklHead, cklStig, targetKeyOf } from '../catalog/stigs/ckl-writer.ts';
import { checklistName, cklbHead, cklbStig, hostKey, releaseKey } from '../catalog/stigs/cklb-writer.ts';
import {
  type ChecklistHost,
  hostsOf,
  requireSlugs,
  stigsAmong,
  unusualNames,
} from '../catalog/stigs/host-schema.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { FullRelease, StigRelease, StigService } from '../catalog/stigs/queries.ts';
import type { Env } from '../http/env.ts';
import { format, notAnObject, oneWord } from '../http/schema.ts';
import { createNames, safeName } from './names.ts';
import { checklistFormats } from './schema.ts';

/** The most files of one zip (rule D28.2), and its most bytes, for which the sizes of its compressed STIGs count. */
export const maxFiles = 5000;
const maxBytes = 4 * 1024 ** 3;

/** The memory of the worker that writes a zip. */
const workerMemory = 32 * 1024 * 1024;

export const checklistsBody = z.object(
  {
    hosts: hostsOf(1).optional().describe('Without it, the hosts that are kept with the list.'),
    format: format(checklistFormats),
    layout: oneWord('layout', ['stig', 'host'])
      .default('stig')
      .describe('stig: a file for each host and STIG. host: a file for each host with all STIGs.'),
  },
  notAnObject,
);
type ChecklistsBody = z.infer<typeof checklistsBody>;
type Layout = ChecklistsBody['layout'];

/** The content of a zip of checklists; a worker writes it (`zip-worker.ts`). */
export interface ChecklistZip {
  /** The size of the zip, within some percent. */
  estimatedBytes: number;
  /** Bytes of memory that it occupies until it is sent. */
  held: number;
  /** Each STIG as a checklist contains it, as a gzip: most files have the same ones. */
  stigs: Uint8Array[];
  /** What stands between two STIGs of a file, and at its end. */
  between: string[];
  end: string;
  files: ChecklistFile[];
}

/** A checklist: its name in the zip, what is about its host, and the indexes of its STIGs. */
export interface ChecklistFile {
  name: string;
  head: string;
  stigs: number[];
}

/** A STIG by slug or alias; its newest release where none is named. */
export interface StigChoice {
  slug: string;
  version?: string;
}

/** The options of a zip: the hosts have different names, and their STIGs are slugs. */
export type ZipOptions = Omit<ChecklistsBody, 'hosts'> & { hosts: ChecklistHost[] };

interface WrittenStig {
  release: Pick<StigRelease, 'slug' | 'title' | 'version' | 'benchmarkId'>;
  key: string[];
  displayName: string;
  targetKey: string;
  packed: Uint8Array;
}

/**
 * Plans the checklists of STIGs for hosts (rule D28.2), all of one state of the catalog: each STIG is written once, as
 * only the part about the host differs. Throws what `full` throws, and a 400 for no STIG, too many files or too many bytes.
 */
export function planChecklists(
  { full }: Pick<StigService, 'full'>,
  choices: StigChoice[],
  { hosts, format, layout }: ZipOptions,
  classification: string | null,
): ChecklistZip {
  const bySlug = new Map<string, WrittenStig>();
  for (const { slug, version } of choices) {
    const release = full(slug, version);
    if (!bySlug.has(release.release.slug)) bySlug.set(release.release.slug, writeStig(release, format));
  }
  const stigs = [...bySlug.values()].sort(byTitle);
  const grouped = hosts.map((host) => ({ host, groups: groupsOf(host, stigs, layout) }));
  const count = grouped.reduce((sum, { groups }) => sum + groups.length, 0);
  if (count === 0) throw badRequest('There is no STIG to make checklists of');
  if (count > maxFiles)
    throw badRequest(
      `${hosts.length} hosts and ${stigs.length} STIGs are ${count} files; at most ${maxFiles} are made at once. Name fewer hosts, or use layout host`,
      '/hosts',
    );
  const nameOfHost = createNames();
  const nameOfFile = createNames();
  const files = grouped.flatMap(({ host, groups }) => {
    const hostName = nameOfHost(safeName(host.hostName.trim()));
    return groups.map((group): ChecklistFile => {
      const name = layout === 'host' ? hostName : checklistName(group[0]!.release, { hostName });
      return {
        name: nameOfFile(name, `.${format}`),
        head: headOf(host, group, { format, layout, classification }),
        stigs: group.map((stig) => stigs.indexOf(stig)),
      };
    });
  });
  const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);
  const heads = sum(files.map(({ head }) => head.length));
  const contents = sum(files.map((file) => sum(file.stigs.map((index) => stigs[index]!.packed.length))));
  if (heads + contents > maxBytes)
    throw badRequest('The zip would be larger than 4 GiB. Name fewer hosts or STIGs');
  return {
    estimatedBytes: heads + contents,
    // The worker has a copy.
    held: workerMemory + 2 * (heads + sum(stigs.map(({ packed }) => packed.length))),
    stigs: stigs.map(({ packed }) => packed),
    between: format === 'ckl' ? [] : [','],
    end: format === 'ckl' ? cklEnd : ']}',
    files,
  };
}

function writeStig(full: FullRelease, format: ChecklistsBody['format']): WrittenStig {
  const stig = cklbStig(full);
  const { slug, title, version, benchmarkId } = full.release;
  const text = format === 'ckl' ? cklStig(stig, full.release) : JSON.stringify(stig);
  return {
    release: { slug, title, version, benchmarkId },
    key: releaseKey(full),
    displayName: stig.display_name,
    targetKey: targetKeyOf(stig),
    packed: gzipSync(text, { level: compressionLevel }),
  };
}

/** In the order of rule D3.4. */
function byTitle({ release: a }: WrittenStig, { release: b }: WrittenStig): number {
  return (
    compareCodePoints(fold(a.title), fold(b.title)) ||
    compareCodePoints(a.title, b.title) ||
    compareCodePoints(a.slug, b.slug)
  );
}

/** The files of a host, each with its STIGs: those that it names, or all. */
function groupsOf({ stigs: slugs }: ChecklistHost, all: WrittenStig[], layout: Layout): WrittenStig[][] {
  const own = slugs === undefined ? all : all.filter(({ release }) => slugs.includes(release.slug));
  if (layout === 'stig') return own.map((stig) => [stig]);
  return own.length === 0 ? [] : [own];
}

/** The beginning of a checklist, up to its first STIG. */
function headOf(
  host: ChecklistHost,
  group: WrittenStig[],
  of: { format: ChecklistsBody['format']; layout: Layout; classification: string | null },
): string {
  const { release, displayName, key, targetKey } = group[0]!;
  const ofHost = hostKey(host);
  const named =
    of.layout === 'host'
      ? {
          title: host.hostName,
          id: stableId('cklb-host', JSON.stringify(group.map((stig) => stig.key)), ...ofHost),
        }
      : { title: `${displayName} ${release.version}`, id: stableId('cklb', ...key, ...ofHost) };
  const head = cklbHead({ ...named, target: host, classification: of.classification });
  if (of.format === 'ckl') return cklHead(head.target_data, targetKey);
  return `${JSON.stringify(head).slice(0, -1)},"stigs":[`;
}

type User = Env['Variables']['user'];

/** The name and STIGs of a list; `release` is null for a STIG that is no longer in the catalog. */
interface ListOfStigs {
  name: string;
  stigs: { slug: string; release: { version: string } | null }[];
}

/** The checklists of a list. */
export interface ListChecklists {
  zip: ChecklistZip;
  /** The name of the zip. */
  name: string;
  /** The slugs of STIGs that are no longer in the catalog. */
  gone: string[];
  /** Words about the names of hosts. */
  warnings: string[];
}

export type MakeListChecklists = ReturnType<typeof createListChecklists>;

/**
 * Makes the function that plans the checklists of a list, for hosts of a request or those that are stored with the list. It
 * throws what `planChecklists` and the two functions of `lists` throw, a 400 for no host and for a STIG that the list lacks.
 */
export function createListChecklists(
  stigs: Pick<StigService, 'full'>,
  stigNames: StigNameIndex,
  lists: {
    releases(user: User, id: string): ListOfStigs;
    hosts(user: User, id: string): ChecklistHost[];
  },
  classification: string | null,
) {
  return (user: User, id: string, body: ChecklistsBody): ListChecklists => {
    const list = lists.releases(user, id);
    const among = stigsAmong(stigNames, list.stigs);
    const hosts = body.hosts ? requireSlugs(body.hosts, among) : lists.hosts(user, id);
    if (hosts.length === 0) throw badRequest('The list has no hosts: name some', '/hosts');
    const choices = list.stigs.flatMap(({ slug, release }) =>
      release === null ? [] : [{ slug, version: release.version }],
    );
    return {
      zip: planChecklists(stigs, choices, { ...body, hosts }, classification),
      name: `${list.name}_checklists.zip`,
      gone: list.stigs.filter(({ release }) => release === null).map(({ slug }) => slug),
      warnings: unusualNames(hosts),
    };
  };
}
