import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from '../../../src/http/env.ts';
import { pagesOf, type WorstRequest, worstForms, worstOperations, worstPages } from './requests.ts';
import { type WorstSite, worstSite } from './site.ts';
import { type Effort, effortOfTurns, yardstick } from './turns.ts';

const mebibyte = 1024 * 1024;

/**
 * What a request may cost, in yardsticks of some 5 ms: in one turn of the loop, there with less than all that an upload
 * may have, and in other threads for each MiB of its body. What is right costs half of each at most.
 */
const limits = { turn: 30, partOfUpload: 3, elsewhere: 100 };
/**
 * An upload of 32 or 64 MiB takes seconds to read. So of each such operation one body has the full size; the others have a quarter
 * of a MiB. Of the shapes other than long and many each operation is sent one in `turns`, and so is each form of all shapes
 * of files, which the same thread reads for the API.
 */
const upload = { above: 2 * mebibyte, size: mebibyte / 4, turns: 16 };
/** The most bytes of what a text may cite ids in, which is less than its body may have. */
const citing = 8 * mebibyte;
/** What is above the limit by no more is measured again: a collection of garbage may have come between. */
const doubtful = 4;

/** What was found by a walk. */
export interface Walk {
  requests: number;
  /** The operations that were asked, by method and path. */
  operations: Set<string>;
  statuses: Record<number, number>;
  /** What is wrong, in words: one line for each request. */
  problems: string[];
}

/** What is to be asked: all operations of `/openapi.json`, all pages, all forms. */
function* worstRequests({ app, document, samples, forms, files }: WorstSite): Generator<WorstRequest> {
  yield* worstOperations(document, samples, files);
  yield* worstPages(pagesOf(app, 'GET'), samples, forms);
  yield* worstForms(pagesOf(app, 'POST'), samples, forms, files.files);
}

/**
 * Sends every request in every bad shape, and looks what each costs. `plant` adds routes of a test; `only` says which
 * operations are asked.
 */
export async function walk(
  only: (request: WorstRequest) => boolean = () => true,
  plant?: (app: OpenAPIHono<Env>) => void,
): Promise<Walk> {
  const site = await worstSite(plant);
  const quiet = yardstick();
  const found: Walk = { requests: 0, operations: new Set(), statuses: {}, problems: [] };
  const failed = new Set<string>();
  const room = new Map<string, number>();
  const sizeOf = createSizes();
  for (const request of worstRequests(site)) {
    const { operation, name, target } = request;
    // A route that fails in one shape is said to fail, and left.
    if (!only(request) || failed.has(operation)) continue;
    found.operations.add(operation);
    if (request.body !== null && !room.has(operation)) room.set(operation, await largest(site, request));
    const size = sizeOf(request, room);
    if (request.body !== null && size === 0) continue;
    const init = initOf(site, request, size);
    const { problem, status } = await examine(site, target, init, {
      quiet,
      isPart: size < (room.get(operation) ?? 0),
    });
    found.requests++;
    found.statuses[status] = (found.statuses[status] ?? 0) + 1;
    if (problem === null) continue;
    failed.add(operation);
    found.problems.push(`${operation}, ${name}: ${problem}`);
  }
  await site.close();
  return found;
}

/** Makes what says how many bytes a request is sent with, by those that its operation takes; 0 for one that is left out. */
function createSizes() {
  /** Of each operation that takes uploads, how many shapes there were, and whether one had the full size. */
  const uploads = new Map<string, { shapes: number; isFull: boolean }>();
  return ({ operation, name, isFile }: WorstRequest, room: Map<string, number>): number => {
    const most = room.get(operation) ?? 0;
    if (most <= upload.above) return isFile ? 0 : most;
    const seen = uploads.get(operation) ?? { shapes: uploads.size, isFull: false };
    uploads.set(operation, seen);
    seen.shapes++;
    if (name.startsWith('long') && !seen.isFull) {
      seen.isFull = true;
      return most;
    }
    return (!isFile && /^(?:many|long)/.test(name)) || seen.shapes % upload.turns === 0 ? upload.size : 0;
  };
}

type Init = RequestInit & { headers: Record<string, string>; body?: Buffer<ArrayBuffer> };

/** A request as it is sent, with a body of so many bytes. */
function initOf(site: WorstSite, { method, access, type, body }: WorstRequest, room: number): Init {
  const headers = { ...site.headersFor(access), ...(type !== null && { 'Content-Type': type }) };
  return body === null ? { method, headers } : { method, headers, body: Buffer.from(body(room)) };
}

/** The bytes that an operation takes: the refusal of more says how many. */
async function largest(site: WorstSite, request: WorstRequest): Promise<number> {
  const { headers, ...init } = initOf(site, request, 1000);
  const tooLong = { ...headers, 'Content-Length': '999999999' };
  const answer = await site.app.request(request.target, { ...init, headers: tooLong });
  const most = Number(/larger than (\d+) bytes/.exec(await answer.text())?.[1] ?? mebibyte);
  return request.operation.endsWith('/references') ? Math.min(most, citing) : most;
}

/** Sends a request, with the yardstick of a quiet moment, and says what is wrong: with its cost, or because it was refused before its body was read. */
async function examine(
  site: WorstSite,
  target: string,
  init: Init,
  { quiet, isPart }: { quiet: number; isPart: boolean },
): Promise<{ problem: string | null; status: number }> {
  const size = (init.body?.length ?? 0) / mebibyte;
  const turnLimit = isPart ? limits.partOfUpload : limits.turn;
  const allowed = { turn: turnLimit, elsewhere: limits.elsewhere * Math.max(1, size) };
  const least: Effort = { turn: Infinity, elsewhere: Infinity };
  let unit = quiet;
  for (let attempt = 0; attempt < 3; attempt++) {
    const sent = await send(site, target, init);
    if (sent.problem !== null) return sent;
    const { turn, elsewhere } = sent.effort;
    least.turn = Math.min(least.turn, turn / unit);
    least.elsewhere = Math.min(least.elsewhere, elsewhere / unit);
    const over = Math.max(least.turn / allowed.turn, least.elsewhere / allowed.elsewhere);
    if (over <= 1) return sent;
    if (over > doubtful) break;
    unit = yardstick();
  }
  const said = `${least.turn.toFixed(1)} yardsticks in one turn of the loop (at most ${allowed.turn}), ${least.elsewhere.toFixed(0)} in other threads (at most ${allowed.elsewhere.toFixed(0)})`;
  return { problem: said, status: 200 };
}

async function send(
  site: WorstSite,
  target: string,
  init: Init,
): Promise<{ problem: string | null; status: number; effort: Effort }> {
  let response = new Response();
  let body = '';
  const effort = await effortOfTurns(async () => {
    response = await site.app.request(target, init);
    body = await response.text();
  });
  const { status, headers } = response;
  // A session that was ended lets no other form be read.
  if (headers.has('Set-Cookie')) await site.signIn();
  const isUnread =
    status >= 500 ||
    status === 413 ||
    status === 429 ||
    ((status === 401 || status === 403) && !target.startsWith('/signin'));
  return { problem: isUnread ? `it was answered ${status}: ${body.slice(0, 200)}` : null, status, effort };
}
