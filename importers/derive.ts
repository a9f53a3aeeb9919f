import { CommandError } from '../src/base/errors.ts';
import type { Database } from '../src/db/database.ts';
import type { SourceProblem } from '../src/read/import-error.ts';
import type { CatalogPart } from './controls/catalog.ts';
import { lackingOf, removeParts } from './controls/parts.ts';
import { deriveControls, removeLargest } from './crosswalk/derive-crosswalk.ts';
import { deriveDocuments } from './guidance/documents.ts';
import { deriveRoles, mappingsAreOutdated, remapStigs } from './guidance/roles/derive-roles.ts';
import type { OpenLine } from './ledger-lines.ts';
import { noteDecisions, noteDocuments, noteRemoved, noteScap } from './outcomes.ts';
import type { Phases } from './phases.ts';
import type { Staging } from './staging.ts';
import { deriveScap } from './stigs/derive-scap.ts';
import { decideIdentity } from './stigs/identity.ts';
import { describeIdentity } from './stigs/identity-outcomes.ts';
import { createSearchIndex } from './stigs/search-index.ts';
import { readOverrides, readPrintings, storeOverrides } from './stigs/store.ts';
import { type SlugChange, writeIdentity } from './stigs/write.ts';

/** The ledger line of a catalog that states that it is a part. */
export interface StatedPart {
  line: OpenLine;
  part: CatalogPart;
}

interface StagedRun {
  lines: OpenLine[];
  staging: Staging;
  parts: StatedPart[];
  overrides: Map<string, string>;
  phases: Phases;
}

interface DerivedRun {
  changed: boolean;
  unusedOverrides: string[];
  slugChanges: SlugChange[];
}

/**
 * Derives all that follows from the sources, in any order, in the run's transaction; updates the ledger lines. `pause` is
 * called where the run may end.
 */
export async function deriveAll(
  db: Database,
  run: StagedRun,
  pause: () => Promise<void>,
): Promise<DerivedRun> {
  const { phases } = run;
  const { touched, ...derived } = phases.timed('identity', () => decideStigs(db, run));
  await pause();
  const isMoved = derived.changed || touched.size > 0;
  const hasScap = phases.timed('identity', () => deriveMachineChecks(db, run, isMoved));
  await pause();
  phases.timed('controls', () => deriveCatalogs(db, run));
  await pause();
  phases.timed('roles', () => deriveGuidance(db, run, touched));
  await pause();
  return { ...derived, changed: derived.changed || hasScap };
}

/** Which SCAP contents count, and for which STIGs, follows from both; true if this run stored some. */
function deriveMachineChecks(db: Database, { lines, staging }: StagedRun, isMoved: boolean): boolean {
  const { scapSources, replaced } = staging;
  if (scapSources.size > 0 || isMoved || replaced > 0) noteScap(lines, deriveScap(db));
  return scapSources.size > 0;
}

/** Assigns releases to STIGs; `touched` are the ids of those that changed. */
function decideStigs(
  db: Database,
  { lines, staging, overrides, phases }: StagedRun,
): DerivedRun & { touched: Set<number> } {
  const { releases, replaced } = staging;
  if (releases.length === 0 && replaced === 0 && overrides.size === 0)
    return { changed: false, unusedOverrides: [], slugChanges: [], touched: new Set() };
  staging.begin();
  const isOther = storeOverrides(db, overrides);
  const printings = readPrintings(db);
  const identity = decideIdentity(printings, readOverrides(db));
  // Refuse the row itself; an earlier row must not decide where a later release belongs.
  for (const slug of overrides.values()) {
    const version = identity.refused.get(slug);
    if (version !== undefined)
      throw new CommandError(
        `two benchmarks have different rules in ${version}: they cannot share the slug ${slug}`,
      );
  }
  const { touched, changes } = writeIdentity(db, printings, identity);
  phases.timed('search', () => createSearchIndex(db).reconcile());
  const fresh = new Set(releases.map(({ id }) => id));
  const outcomes = describeIdentity(db, printings, identity, { fresh, changes });
  noteDecisions(lines, outcomes, (sha256) => staging.unchanged(sha256)?.target ?? null);
  const changed = releases.length > 0 || isOther || touched.size > 0;
  const unusedOverrides = identity.unused.filter((benchmarkId) => overrides.has(benchmarkId));
  return { changed, unusedOverrides, slugChanges: changes, touched };
}

function deriveCatalogs(db: Database, { lines, staging, parts, phases }: StagedRun): void {
  const { controlSources, replaced } = staging;
  const removed = controlSources.size > 0 ? removeParts(db) : [];
  noteRemoved(lines, removed);
  const isAllGone =
    removed.length === controlSources.size && removed.every(({ sourceId }) => controlSources.has(sourceId));
  // Without all that was just read the catalogs are as they were.
  if (controlSources.size > 0 && (!isAllGone || replaced > 0)) {
    const derive = () => deriveControls(db, (work) => phases.timed('closure', work));
    let problems = derive();
    for (; problems === null; problems = derive()) noteRemoved(lines, [removeLargest(db, controlSources)]);
    warn(lines, problems);
  }
  for (const { line, part } of parts)
    line.reason = [line.reason, lackingOf(db, part)].filter((each) => each !== '').join('; ');
}

/** The mapping of STIGs to roles changes with either side and with its rule. */
function deriveGuidance(db: Database, { lines, staging }: StagedRun, touched: Set<number>): void {
  const superseded = new Map<number, string>();
  if (staging.documentSources.size > 0 || staging.replaced > 0)
    noteDocuments(lines, deriveDocuments(db, staging.documentSources));
  const outdated = mappingsAreOutdated(db);
  if (staging.roleSources.size > 0 || staging.replaced > 0 || outdated) {
    staging.begin();
    if (outdated) staging.replaced++;
    warn(lines, deriveRoles(db, staging.roleSources, superseded));
  } else if (touched.size > 0) remapStigs(db, touched);
  for (const line of lines) {
    const reason = line.sourceId === null ? undefined : superseded.get(line.sourceId);
    if (reason !== undefined) Object.assign(line, { outcome: 'superseded', reason });
  }
}

function warn(lines: OpenLine[], problems: SourceProblem[]): void {
  for (const { sourceId, message } of problems)
    lines.find((line) => line.sourceId === sourceId)?.warnings.push(message);
}
