import { setImmediate as nextTurn } from 'node:timers/promises';
import { deflatedPiece, joinedPieces, type Piece, storedPiece } from '../base/deflate.ts';
import { badRequest } from '../base/errors.ts';
import { stableId } from '../base/ids.ts';
import { compareCodePoints, fold } from '../base/text.ts';
import { directory, largestZip, localHeader, type Member, sizeOfZip } from '../base/zip.ts';
import { cklEnd, cklHead, cklStig, targetKeyOf } from '../catalog/stigs/ckl-writer.ts';
import { checklistName, cklbHead, cklbStig, hostKey, releaseKey } from '../catalog/stigs/cklb-writer.ts';
import type { ChecklistHost } from '../catalog/stigs/host-schema.ts';
import type { FullRelease, StigRelease, StigService } from '../catalog/stigs/queries.ts';
import { createNames, safeName } from './file-names.ts';
import { type ChecklistsBody, maxFiles } from './list-checklists-schema.ts';
import type { ChecklistFormat } from './schema.ts';

/** A zip of checklists: its files, and the bytes of all of it and of the memory that it occupies until it is sent. */
export interface ChecklistZip {
  bytes: number;
  held: number;
  files: ZippedFile[];
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
interface ZippedFile {
  member: Member;
  pieces: Piece[];
}

/** What a zip is asked for: the hosts are of different names, their STIGs slugs. */
export type HostsOfZip = Omit<ChecklistsBody, 'hosts'> & { hosts: ChecklistHost[] };

export type MakeChecklists = ReturnType<typeof createChecklistZips>;

/**
 * Makes the function that makes checklists of STIGs for hosts (rule D28.2). It writes and compresses each STIG once, as
 * only the part about the host differs: so the size of the zip is known before it is sent.
 */
export function createChecklistZips(stigs: Pick<StigService, 'full'>) {
  /** Writes each wanted release once, in the order of rule D3.4. Throws what `full` throws. */
  function render(wanted: WantedStig[], format: ChecklistFormat): Rendered[] {
    const rendered = new Map<string, Rendered>();
    for (const { slug, version } of wanted) {
      const full = stigs.full(slug, version);
      if (!rendered.has(full.release.slug)) rendered.set(full.release.slug, renderStig(full, format));
    }
    return [...rendered.values()].sort(byTitle);
  }

  /** Makes the zip of STIGs. Throws a 400 for no STIG or too many files. */
  return (wanted: WantedStig[], asked: HostsOfZip, classification: string | null): ChecklistZip => {
    const { hosts, format, layout } = asked;
    const rendered = render(wanted, format);
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
    const files: ZippedFile[] = [];
    for (const [host, groups] of grouped) {
      const nameOf = naming(host);
      for (const group of groups) {
        const head = checklistHead(host, group, layout, classification);
        const pieces = piecesOf(format, storedPiece(headOf(format, head, group)), group);
        const member = { name: nameOf(group[0]!), ...joinedPieces(pieces) };
        if (member.unpacked > largestZip) throw tooLarge();
        files.push({ member, pieces });
      }
    }
    const members = files.map(({ member }) => member);
    const bytes = sizeOfZip(members);
    if (bytes > largestZip) throw tooLarge();
    const held = [...rendered.map(({ piece }) => piece), ...files.map(({ pieces }) => pieces[0]!)];
    return { bytes, held: joinedPieces(held).bytes, files };
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

function renderStig(full: FullRelease, format: ChecklistFormat): Rendered {
  const stig = cklbStig(full);
  const { slug, title, version, benchmarkId } = full.release;
  return {
    release: { slug, title, version, benchmarkId },
    key: releaseKey(full),
    displayName: stig.display_name,
    targetKey: targetKeyOf(stig),
    piece: deflatedPiece(format === 'ckl' ? cklStig(stig, full.release) : JSON.stringify(stig)),
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

function* chunks(files: ZippedFile[]): Generator<Buffer> {
  for (const { member, pieces } of files) {
    const [head, ...rest] = pieces;
    yield Buffer.concat([localHeader(member), head!.bytes]);
    for (const { bytes } of rest) yield Buffer.from(bytes);
  }
  yield directory(files.map(({ member }) => member));
}

/** Bytes between two turns of the event loop: without them, a fast client would block other requests. */
const turn = 128 * 1024;

/** The bytes of a zip, made while they are sent. */
export function streamOfZip({ files }: ChecklistZip): ReadableStream<Uint8Array<ArrayBuffer>> {
  const source = chunks(files);
  let sent = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (sent > turn) {
          sent = 0;
          await nextTurn();
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
