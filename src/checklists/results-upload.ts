import type { Ask } from '../base/ask.ts';
import { badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import { cut } from '../base/text.ts';
import type { CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { checklistName, toCklb } from '../catalog/stigs/cklb-writer.ts';
import type { IdentifiedRelease } from '../catalog/stigs/identify.ts';
import { check } from '../http/schema.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { deviceName } from './device-name.ts';
import { type Fault, inspectStig } from './inspect.ts';
import { inspectResults, statedOfResults } from './inspect-results.ts';
import { uploadJobs } from './jobs.ts';
import { isXml, readChecklist } from './read-checklist.ts';
import { checklistFromResults } from './results.ts';
import { createRuleFinder } from './results-match.ts';
import { createResultsReader, type ScanResults } from './results-reader.ts';
import {
  type FromResultsOptions,
  fromResultsBody,
  type Inspection,
  inspectBody,
  type ResultsReport,
} from './results-schema.ts';
import type { ChecklistFormat } from './schema.ts';
import { isOlder, nameOf, shortList, statedOf, versionOf } from './stig-names.ts';
import { chooseStig } from './upgrade.ts';
import {
  answerMade,
  answerOf,
  locatedAt,
  lostIn,
  type Made,
  parseBody,
  readBody,
  type Upgraded,
} from './upload.ts';
import { readUploadedXml } from './uploaded-xml.ts';

/** Bytes of the results of a scan, or of a body with them (rule D29.1): an ARF contains its data stream. */
export const maxResults = 64 * 1024 * 1024;

/** Reads the results of a scan. Throws a 400 for other content. */
export function readResults(given: string | Uint8Array): ScanResults {
  let reader: ReturnType<typeof createResultsReader> | null = null;
  const warnings = readUploadedXml(given, 'results', (root) => {
    reader = createResultsReader(root);
    return reader.handler;
  });
  return reader!.finish(warnings);
}

export type MadeChecklist = Made<ResultsReport>;

/** Makes a checklist of scan results, or merges them into an existing one. */
export async function fromResultsOf(
  ask: Ask,
  scan: ScanResults,
  {
    slug,
    version,
    allowOlder,
    ...options
  }: Omit<FromResultsOptions, 'format'> & { banner: string | null; format?: ChecklistFormat },
  old: OldChecklist | null,
): Promise<MadeChecklist> {
  const stated = statedOfResults(scan);
  const asked = { ...stated, slug, version };
  const stigs = old?.checklist.stigs ?? [];
  let release = await ask(uploadJobs.identifiedRelease, { ...asked, checklist: stigs.map(nameAndRelease) });
  const own = release && stigs[chooseStig(stigs, toCklb(release.target).stigs[0]!, release.names)];
  if (own && version === undefined && allowOlder !== true && isBefore(release!, own))
    release = await ask(uploadJobs.identifiedRelease, { ...asked, checklist: [nameAndRelease(own)] });
  const find = release && createRuleFinder(release);
  if (!release || !scan.results.some((result) => find!.rule(result) !== null)) throw notKnown(scan, release);
  const made = checklistFromResults(scan, release, options, old);
  made.report.warnings.push(...lostIn(options.format ?? 'cklb', made.checklist));
  // Named after its host (rule D28.1).
  const name = checklistName(release.target.release, { hostName: deviceName(made.checklist.target_data) });
  return { ...made, target: release.target, name };
}

const nameAndRelease = (stig: CklbStig) => ({ name: nameOf(stig), release: versionOf(stig) });

/** Whether results would go to a release before that of the checklist (rule D42.4). Throws a 400 where only they could. */
function isBefore({ target, versions }: IdentifiedRelease, stig: CklbStig): boolean {
  const own = versionOf(stig);
  if (!isOlder(target.release.version, own)) return false;
  if (versions.includes(own!)) return true;
  throw badRequest(
    `checklist: its release ${own} is not in the catalog, and the results would go into the older ${target.release.version}. The catalog has ${shortList(versions)}: import ${own}, name one of these as version, or allow older releases`,
    '/checklist',
  );
}

function notKnown({ results, benchmarkId }: ScanResults, release: IdentifiedRelease | null): Error {
  if (!results.some(({ id }) => /^SV-/.test(id)) && !release)
    return badRequest(
      'results: not of a benchmark of DISA; with content of ComplianceAsCode, run oscap with --stig-viewer',
      '/results',
    );
  const owner = release ? cut(release.target.release.title) : 'a STIG in the catalog';
  const named = benchmarkId === '' ? '' : ` (benchmark ${cut(benchmarkId)})`;
  return badRequest(
    `results: no rule in them belongs to ${owner}${named}. Import that STIG first`,
    '/results',
  );
}

/** Reads a body of results: JSON, or the XML itself with its options in the query. Throws a 400. */
export async function fromResultsWork(
  ask: Ask,
  bytes: Uint8Array,
  { download, banner, ...query }: FromResultsOptions & { download: boolean; banner: string | null },
): Promise<Upgraded> {
  const { results, checklist, ...asked } = isXml(bytes)
    ? { results: bytes, checklist: undefined, ...query }
    : check(fromResultsBody, parseBody(utf8Body(bytes)));
  const read = async () => {
    const old = checklist === undefined ? null : readChecklist(checklist);
    return fromResultsOf(ask, readResults(results), { ...asked, banner }, old);
  };
  const made = await (isXml(bytes) ? locatedAt('', read) : read());
  return answerMade(made, asked.format, download);
}

/** Inspects a body: JSON with `checklist` or `results`, or a ckl, cklb or results file itself. Throws a 400. */
export async function inspectWork(ask: Ask, bytes: Uint8Array): Promise<Upgraded> {
  const body = readBody(bytes);
  if ('file' in body) return answerOf(await locatedAt('', () => inspectionOf(ask, body.file)));
  const { checklist, results } = check(inspectBody, body.envelope);
  if ((checklist === undefined) === (results === undefined))
    throw badRequest('The body must have either checklist or results');
  const pointer = checklist === undefined ? '/results' : '/checklist';
  return answerOf(await locatedAt(pointer, () => inspectionOf(ask, (checklist ?? results)!)));
}

/** Inspects a checklist or scan results. Throws a 400 for other content. */
export async function inspectionOf(ask: Ask, given: string | object | Uint8Array): Promise<Inspection> {
  if (isResults(given)) {
    const scan = readResults(given);
    const release = await ask(uploadJobs.identifiedRelease, statedOfResults(scan));
    return { kind: scan.kind, stigs: [inspectResults(scan, release)] };
  }
  const faults: Fault[] = [];
  const old = readChecklist(given, (code, path, problem) => faults.push({ code, path, problem }));
  const stigs: Inspection['stigs'] = [];
  for (const [index, stig] of old.checklist.stigs.entries()) {
    const release = await ask(uploadJobs.identifiedRelease, statedOf(stig));
    const before = stigs.map(({ slug }) => slug);
    stigs.push(inspectStig({ old, faults }, index, release, before));
  }
  return { kind: old.format, stigs };
}

/** Whether content is XML but no ckl, by its root element: nothing is parsed yet. */
export function isResults(given: string | object | Uint8Array): given is string | Uint8Array {
  if (given instanceof Uint8Array) return isXml(given) && !/^(?:.*:)?CHECKLIST$/.test(rootOf(headOf(given)));
  return (
    typeof given === 'string' && /^[\s\uFEFF]*</.test(given) && !/^(?:.*:)?CHECKLIST$/.test(rootOf(given))
  );
}

function headOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 1024 * 1024))
    .toString('latin1')
    .replaceAll('\0', '');
}

function rootOf(text: string): string {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const end = text.startsWith('<?', at) ? '?>' : text.startsWith('<!--', at) ? '-->' : null;
    if (end === null)
      return /^<(?:!DOCTYPE\s{1,9})?([\w.:-]{1,64})(?=[\s>/])/i.exec(text.slice(at, at + 100))?.[1] ?? '';
    at = text.indexOf(end, at + 2);
    if (at < 0) return '';
  }
  return '';
}
