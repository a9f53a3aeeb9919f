import { deflatedPiece, joinedPieces, type Piece, storedPiece } from '../base/deflate.ts';
import { badRequest, callerGone, unavailable } from '../base/errors.ts';
import { stableId } from '../base/ids.ts';
import { yieldToEventLoop } from '../base/slices.ts';
import { compareCodePoints, fold } from '../base/text.ts';
import { directory, largestZip, localHeader, type Member, sizeOfZip } from '../base/zip.ts';
import { cklEnd, cklHead, cklStig, targetKeyOf } from '../catalog/stigs/ckl-writer.ts';
import { checklistName, cklbHead, cklbStig, hostKey, releaseKey } from '../catalog/stigs/cklb-writer.ts';
import type { ChecklistHost } from '../catalog/stigs/host-schema.ts';
import type { FullRelease, StigRelease, StigService } from '../catalog/stigs/queries.ts';
import type { Presence } from '../http/env.ts';
import { createNames, safeName } from './file-names.ts';
import { type ChecklistsBody, maxFiles } from './list-checklists-schema.ts';
import type { ChecklistFormat } from './schema.ts';

/** A zip of checklists that is ready to be sent. */
export interface ChecklistZip {
  /** Bytes of the zip, and of the memory that it occupies until it is sent. */
  bytes: number;
  held: number;
  files: string[];
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** A STIG by slug or alias; its newest release where none is named. */
export interface WantedStig {
  slug: string;
  version?: string;
}

interface Rendered {
  release: Pick<StigRelease, 'slug' | 'title' | 'version' | 'benchmarkId'>;
  key: string[];
  displayName: string;
  targetKey: string;
  piece: Piece;
}

/** One checklist: pieces, most of which other files share. */
interface File {
  member: Member;
  pieces: Piece[];
}

/** How often to start again when an import changes the catalog in between. */
const attempts = 5;
/** Files between two yields to the event loop. */
const slice = 100;

/** What a zip is asked for: the hosts are of different names, their STIGs slugs. */
export type HostsOfZip = Omit<ChecklistsBody, 'hosts'> & { hosts: ChecklistHost[] };

export type MakeChecklists = ReturnType<typeof createChecklistZips>;

/**
 * Makes the function that makes checklists of STIGs for hosts (rule D28.2). It writes and compresses each STIG once, as
 * only the part about the host differs: so it knows the size of the zip before it sends it, and all is of one catalog.
 */
export function createChecklistZips(stigs: Pick<StigService, 'full'>, generation: () => number) {
  /** Writes each wanted release once, in the order of rule D3.4. Throws what `wanted` and `full` throw. */
  async function render(
    wanted: () => WantedStig[],
    format: ChecklistFormat,
    caller: Pick<Presence, 'closed'>,
  ): Promise<Rendered[]> {
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (caller.closed) throw callerGone();
      const before = generation();
      const rendered = new Map<string, Rendered>();
      try {
        for (const { slug, version } of wanted()) {
          const full = stigs.full(slug, version);
          if (!rendered.has(full.release.slug))
            rendered.set(full.release.slug, await renderStig(full, format));
          await yieldToEventLoop();
          if (caller.closed) throw callerGone();
          if (generation() !== before) break;
        }
      } catch (error) {
        if (caller.closed || generation() === before) throw error;
      }
      if (generation() === before) return [...rendered.values()].sort(byTitle);
    }
    throw unavailable('The catalog is being changed. Try again', 5);
  }

  // One at a time: parallel zips would need more memory and no less time.
  let last: Promise<unknown> = Promise.resolve();

  /** Makes the zip of the STIGs that `wanted` names, by slug or alias. Throws a 400 for no STIG or too many files. */
  return async function make(
    wanted: () => WantedStig[],
    asked: HostsOfZip,
    classification: string | null,
    caller: Pick<Presence, 'closed'> = { closed: false },
  ): Promise<ChecklistZip> {
    const { hosts, format, layout } = asked;
    const rendering = last.then(() => render(wanted, format, caller));
    last = rendering.catch(() => undefined);
    const rendered = await rendering;
    if (rendered.length === 0) throw badRequest('There is no STIG to make checklists of');
    const grouped = hosts.map((host) => [host, groupsOf(host, rendered, layout)] as const);
    const count = grouped.reduce((sum, [, groups]) => sum + groups.length, 0);
    if (count === 0) throw badRequest('There is no STIG to make checklists of');
    if (count > maxFiles)
      throw badRequest(
        `${hosts.length} hosts and ${rendered.length} STIGs are ${count} files; at most ${maxFiles} are made at once. Name fewer hosts, or use layout host`,
        '/hosts',
      );
    const naming = createNaming(layout, format);
    const files: File[] = [];
    for (const [host, groups] of grouped) {
      const nameOf = naming(host);
      for (const group of groups) {
        const head = checklistHead(host, group, layout, classification);
        const pieces = piecesOf(format, storedPiece(headOf(format, head, group)), group);
        const member = { name: nameOf(group[0]!), ...joinedPieces(pieces) };
        if (member.unpacked > largestZip) throw tooLarge();
        files.push({ member, pieces });
        if (files.length % slice === 0) await yieldToEventLoop();
      }
    }
    const members = files.map(({ member }) => member);
    const bytes = sizeOfZip(members);
    if (bytes > largestZip) throw tooLarge();
    const held = [...rendered.map(({ piece }) => piece), ...files.map(({ pieces }) => pieces[0]!)];
    return {
      bytes,
      held: joinedPieces(held).bytes,
      files: members.map(({ name }) => name),
      stream: () => streamed(chunks(files)),
    };
  };
}

/** The files of a host, each with its STIGs: those that it names, or all. */
function groupsOf(
  { stigs }: ChecklistHost,
  rendered: Rendered[],
  layout: ChecklistsBody['layout'],
): Rendered[][] {
  const wanted = new Set(stigs);
  const own = stigs === undefined ? rendered : rendered.filter(({ release }) => wanted.has(release.slug));
  return layout === 'stig' ? own.map((each) => [each]) : own.length === 0 ? [] : [own];
}

function checklistHead(
  host: ChecklistHost,
  group: Rendered[],
  layout: ChecklistsBody['layout'],
  classification: string | null,
): ReturnType<typeof cklbHead> {
  const [first] = group;
  const ofHost = hostKey(host);
  if (layout === 'host') {
    const keys = JSON.stringify(group.map(({ key }) => key));
    return cklbHead({
      title: host.hostName,
      id: stableId('cklb-host', keys, ...ofHost),
      target: host,
      classification,
    });
  }
  const title = `${first!.displayName} ${first!.release.version}`;
  return cklbHead({ title, id: stableId('cklb', ...first!.key, ...ofHost), target: host, classification });
}

function tooLarge(): Error {
  return badRequest('The zip would be larger than 4 GiB. Name fewer hosts or STIGs');
}

async function renderStig(full: FullRelease, format: ChecklistFormat): Promise<Rendered> {
  await yieldToEventLoop();
  const stig = cklbStig(full);
  await yieldToEventLoop();
  const { slug, title, version, benchmarkId } = full.release;
  return {
    release: { slug, title, version, benchmarkId },
    key: releaseKey(full),
    displayName: stig.display_name,
    targetKey: targetKeyOf(stig),
    piece: await deflatedPiece([format === 'ckl' ? cklStig(stig, full.release) : JSON.stringify(stig)]),
  };
}

function byTitle({ release: a }: Rendered, { release: b }: Rendered): number {
  return (
    compareCodePoints(fold(a.title), fold(b.title)) ||
    compareCodePoints(a.title, b.title) ||
    compareCodePoints(a.slug, b.slug)
  );
}

function createNaming(layout: ChecklistsBody['layout'], format: ChecklistFormat) {
  const ofHost = createNames();
  const ofFile = createNames();
  return (host: ChecklistHost) => {
    const hostName = ofHost(safeName(host.hostName.trim()));
    return ({ release }: Rendered) =>
      ofFile(layout === 'host' ? hostName : checklistName(release, { hostName }), `.${format}`);
  };
}

const comma = storedPiece(Buffer.from(','));
const ends = {
  cklb: storedPiece(Buffer.from(']}'), true),
  ckl: storedPiece(Buffer.from(cklEnd), true),
};

function headOf(format: ChecklistFormat, head: ReturnType<typeof cklbHead>, stigs: Rendered[]): Buffer {
  if (format === 'ckl') return Buffer.from(cklHead(head.target_data, stigs[0]!.targetKey));
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"stigs":[`);
}

function piecesOf(format: ChecklistFormat, head: Piece, stigs: Rendered[]): Piece[] {
  const between = format === 'ckl' ? [] : [comma];
  return [
    head,
    ...stigs.flatMap(({ piece }, index) => (index === 0 ? [piece] : [...between, piece])),
    ends[format],
  ];
}

function* chunks(files: File[]): Generator<Buffer> {
  for (const { member, pieces } of files) {
    const [head, ...rest] = pieces;
    yield Buffer.concat([localHeader(member), head!.bytes]);
    for (const { bytes } of rest) yield bytes;
  }
  yield directory(files.map(({ member }) => member));
}

/** Bytes between two yields to the event loop: without them, a fast client would block other requests. */
const turn = 128 * 1024;

function streamed(source: Generator<Buffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (sent > turn) {
          sent = 0;
          await yieldToEventLoop();
        }
        const { done, value } = source.next();
        if (done) return controller.close();
        sent += value.length;
        controller.enqueue(value as Buffer<ArrayBuffer>);
      },
      cancel: () => void source.return(undefined),
    },
    { highWaterMark: 0 },
  );
}
