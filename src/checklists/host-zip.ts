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
  /** The deflated STIGs, what comes between two of them, and the end of every file. */
  stigs: Uint8Array[];
  between: Uint8Array;
  end: Uint8Array;
  files: ZippedFile[];
}

/** A STIG by slug or alias; its newest release where none is named. */
export interface WantedStig {
  slug: string;
  version?: string;
}

interface Rendered {
  release: Pick<StigRelease, 'slug' | 'title' | 'version' | 'benchmarkId'>;
  /** Its index in the zip. */
  index: number;
  key: string[];
  displayName: string;
  targetKey: string;
  piece: Piece;
}

/** One checklist: what is about its host, and the indexes of its STIGs, which other files share. */
interface ZippedFile {
  member: Member;
  head: Uint8Array;
  stigs: Uint16Array;
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
    const rendered = new Map<string, Omit<Rendered, 'index'>>();
    for (const { slug, version } of wanted) {
      const full = stigs.full(slug, version);
      if (!rendered.has(full.release.slug)) rendered.set(full.release.slug, renderStig(full, format));
    }
    return [...rendered.values()].sort(byTitle).map((stig, index) => ({ ...stig, index }));
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
        const piece = storedPiece(headOf(format, head, group));
        const member = { name: nameOf(group[0]!), ...joinedPieces(piecesOf(format, piece, group)) };
        if (member.unpacked > largestZip) throw tooLarge();
        const indexes = Uint16Array.from(group, ({ index }) => index);
        files.push({ member, head: piece.bytes, stigs: indexes });
      }
    }
    const members = files.map(({ member }) => member);
    const bytes = sizeOfZip(members);
    if (bytes > largestZip) throw tooLarge();
    const shared = rendered.map(({ piece }) => piece.bytes);
    const held = [...shared, ...files.map(({ head }) => head)];
    return {
      bytes,
      held: held.reduce((sum, { length }) => sum + length, 0),
      stigs: shared,
      between: Buffer.concat(betweenOf(format).map((piece) => piece.bytes)),
      end: ends[format].bytes,
      files,
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

function renderStig(full: FullRelease, format: ChecklistFormat): Omit<Rendered, 'index'> {
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

function byTitle(
  { release: a }: Pick<Rendered, 'release'>,
  { release: b }: Pick<Rendered, 'release'>,
): number {
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

const betweenOf = (format: ChecklistFormat): Piece[] => (format === 'ckl' ? [] : [comma]);

function piecesOf(format: ChecklistFormat, head: Piece, stigs: Rendered[]): Piece[] {
  const between = betweenOf(format);
  return [
    head,
    ...stigs.flatMap(({ piece }, index) => (index === 0 ? [piece] : [...between, piece])),
    ends[format],
  ];
}

function* chunks({ files, stigs, between, end }: ChecklistZip): Generator<Buffer> {
  for (const { member, head, stigs: own } of files) {
    yield Buffer.concat([localHeader(member), head]);
    for (const [place, index] of own.entries())
      yield Buffer.concat(place === 0 ? [stigs[index]!] : [between, stigs[index]!]);
    yield Buffer.from(end);
  }
  yield directory(files.map(({ member }) => member));
}

/** Bytes between two turns of the event loop: without them, a fast client would block other requests. */
const turn = 128 * 1024;

/** The bytes of a zip, made while they are sent. */
export function streamOfZip(zip: ChecklistZip): ReadableStream<Uint8Array<ArrayBuffer>> {
  const source = chunks(zip);
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
