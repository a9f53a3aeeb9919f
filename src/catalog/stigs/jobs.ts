import { z } from '@hono/zod-openapi';
import type { Viewer } from '../../auth/viewer.ts';
import { pick } from '../../base/objects.ts';
import type { FileType } from '../../http/answer.ts';
import { columnsOf } from '../../http/columns.ts';
import { type FileChoice, narrowedName, type RenderedFile, renderFile } from '../../http/downloads.ts';
import type { SincePerStig, StigChangesService } from './changes.ts';
import { changesFile, diffLines, diffName } from './changes-export.ts';
import type { ChangesSince } from './changes-schema.ts';
import { toCkl } from './ckl-writer.ts';
import { checklistName, toCklb } from './cklb-writer.ts';
import { type AddressedControls, toComponentDefinition } from './component.ts';
import { filterDiff, type StigDiffService } from './diff.ts';
import type { DiffFilter, DiffQuery, StigDiff } from './diff-schema.ts';
import type { RuleHistoryService } from './history.ts';
import type { RuleHistory } from './history-schema.ts';
import type { StigNameIndex } from './name-index.ts';
import { narrowed, type StigService, toFinding } from './queries.ts';
import { type DownloadQuery, Finding } from './schema.ts';

interface StigServices {
  stigs: StigService;
  stigNames: StigNameIndex;
  stigDiff: StigDiffService;
  changes: StigChangesService;
  listChanges: ListChanges;
  ruleHistory: RuleHistoryService;
  addressed: AddressedControls;
  cciLookup: { readFilter(cci?: string): { canonical?: string | undefined } };
}

/** The entries of a list whose changes count. Both throw 404 for a list that the viewer may not see. */
export interface ListChanges {
  /** Since a day, since each was added (`added`), or since the viewer saw it (`seen`). */
  sincePerStig(viewer: Viewer, list: string, since: string): SincePerStig[];
  /** What is new to the viewer, in pinned entries too. */
  news(viewer: Viewer, list: string): SincePerStig[];
}

/** Whose changes are asked for: those of a list, of some STIGs, or without a scope of the whole catalog. */
type ChangesScope = { viewer: Viewer; list: string } | SincePerStig[] | undefined;

/** A file with its name. */
export interface NamedFile {
  bytes: Uint8Array<ArrayBuffer>;
  format: FileType;
  name: string;
}

/** The columns of the csv and xml downloads of a STIG (rule D5.4). */
const columns = columnsOf(
  z.object(
    pick(
      Finding.shape,
      'groupId',
      'title',
      'severity',
      'ruleId',
      'ruleVersion',
      'ruleTitle',
      'vulnDiscussion',
      'checkContent',
      'fixText',
      'ruleIdent',
      'ruleIdents',
    ),
  ),
);

const bytesOf = (value: object | string) =>
  new Uint8Array(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));

/** The STIGs with some slugs, as JSON. */
export const stigBatch = ({ stigs }: StigServices, slugs: string[]) => ({
  bytes: bytesOf(stigs.batch(slugs)),
});

/** A release as a file: a checklist of a host, the whole record, or its findings. Throws 404. */
export function stigFile(
  { stigs, addressed, cciLookup }: StigServices,
  slug: string,
  { format, raw, search, severity, cci, version, ...target }: DownloadQuery,
  banner: string | null,
): NamedFile {
  const full = stigs.full(slug, version);
  const { release } = full;
  if (format === 'cklb' || format === 'ckl') {
    const cklb = toCklb(full, target, banner);
    const bytes = bytesOf(format === 'cklb' ? cklb : toCkl(cklb, [release]));
    return { bytes, format, name: `${checklistName(release, target)}.${format}` };
  }
  const name = `U_${release.benchmarkId}_${release.version}`;
  if (format === 'oscal') {
    const bytes = bytesOf(toComponentDefinition(full, addressed));
    return { bytes, format, name: `${name}_component-definition.json` };
  }
  const filter = { severity, cci: cciLookup.readFilter(cci).canonical, search };
  const rows = narrowed(full.findings, filter).map(toFinding);
  const file = {
    json: stigs.raw(release.id),
    root: 'stig',
    element: 'finding',
    columns,
    rows,
  };
  const { bytes } = renderFile({ format, raw, banner }, file);
  return { bytes, format, name: `${narrowedName(name, filter)}.${format}` };
}

/** The rules that differ between two releases and pass a filter. Throws 404. */
export const comparedReleases = (
  { stigDiff }: StigServices,
  slug: string,
  releases: DiffQuery,
  filter: DiffFilter,
): StigDiff => filterDiff(stigDiff.diff(slug, releases), filter);

/** The same as a file with a line for each rule. */
export function comparedReleasesFile(
  services: StigServices,
  slug: string,
  releases: DiffQuery,
  filter: DiffFilter,
  choice: FileChoice,
): NamedFile {
  const diff = comparedReleases(services, slug, releases, filter);
  const { bytes, format } = renderFile(choice, changesFile(diffLines(diff)));
  return { bytes, format, name: `${narrowedName(diffName(diff), filter)}.${format}` };
}

function sincePerStigOf({ listChanges }: StigServices, scope: ChangesScope, since: string) {
  return scope && 'list' in scope ? listChanges.sincePerStig(scope.viewer, scope.list, since) : scope;
}

/** What changed since a day, or since `added` or `seen` in a list. Throws 404 for a list that the viewer may not see. */
export const changesSince = (services: StigServices, scope: ChangesScope, since: string): ChangesSince =>
  services.changes.since(since, sincePerStigOf(services, scope, since));

/** The same as a file with a line for each rule. */
export const changesSinceFile = (
  services: StigServices,
  scope: ChangesScope,
  since: string,
  choice: FileChoice,
): RenderedFile =>
  renderFile(choice, changesFile(services.changes.lines(since, sincePerStigOf(services, scope, since))));

/** The rules with an id in any STIG, through all releases. Throws 404. */
export const ruleHistory = (services: StigServices, id: string): RuleHistory =>
  services.ruleHistory.history(id);
