import { CommandError } from '../src/base/errors.ts';
import type { Database } from '../src/db/database.ts';
import type { CatalogPart } from './controls/catalog.ts';
import { lackingOf, removeParts } from './controls/parts.ts';
import { deriveControls, removeLargest } from './crosswalk/derive-crosswalk.ts';
import { deriveDocuments } from './guidance/documents.ts';
import { deriveRoles, mappingsAreOutdated } from './guidance/roles/derive-roles.ts';
import type { OpenLine } from './ledger-lines.ts';
import { noteDecisions, noteDocuments, noteOutcomes, noteProblems, noteRemoved } from './outcomes.ts';
import type { Phases } from './phases.ts';
import type { Staging } from './staging.ts';
import { decideIdentity } from './stigs/identity.ts';
import { describeIdentity } from './stigs/identity-outcomes.ts';
import { readPrintings } from './stigs/printings.ts';
import { deriveScap } from './stigs/scap-contents.ts';
import { createSearchIndex } from './stigs/search-index.ts';
import { readOverrides, type SlugChange, storeOverrides, writeIdentity } from './stigs/write.ts';

/** The ledger line of a catalog that states that it is a part. */
interface StatedPart {
  line: OpenLine;
  part: CatalogPart;
}

/** A run whose sources are stored. */
export interface StagedRun {
  lines: OpenLine[];
  staging: Staging;
  parts: StatedPart[];
  /** The operator's slugs by benchmark id. */
  overrides: Map<string, string>;
  phases: Phases;
}

interface DerivedRun {
  /** Whether deriving changed the catalog; staged sources do not count. */
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
  const { phases, staging } = run;
  const { isDecided, ...derived } = phases.timed('identity', () => decideStigs(db, run));
  await pause();
  phases.timed('identity', () => deriveMachineChecks(db, run, isDecided));
  await pause();
  phases.timed('controls', () => deriveCatalogs(db, run));
  await pause();
  phases.timed('roles', () => deriveGuidance(db, run, isDecided));
  await pause();
  return { ...derived, changed: derived.changed || staging.sources.scap.size > 0 };
}

/** Assigns releases to STIGs where a source or an operator's row may change that. */
function decideStigs(
  db: Database,
  { lines, staging, overrides, phases }: StagedRun,
): DerivedRun & { isDecided: boolean } {
  const fresh = staging.sources.stig;
  if (fresh.size === 0 && staging.replaced === 0 && overrides.size === 0)
    return { changed: false, unusedOverrides: [], slugChanges: [], isDecided: false };
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
  const slugChanges = writeIdentity(db, printings, identity);
  phases.timed('search', () => createSearchIndex(db).reconcile());
  const outcomes = describeIdentity(printings, identity, { fresh, changes: slugChanges });
  noteDecisions(lines, outcomes, (sha256) => staging.unchanged(sha256)?.target ?? null);
  return {
    changed: fresh.size > 0 || isOther,
    unusedOverrides: identity.unused.filter((benchmarkId) => overrides.has(benchmarkId)),
    slugChanges,
    isDecided: true,
  };
}

/** Which SCAP contents count, and for which STIGs, follows from both. */
function deriveMachineChecks(db: Database, { lines, staging }: StagedRun, isDecided: boolean): void {
  if (staging.sources.scap.size === 0 && staging.replaced === 0 && !isDecided) return;
  noteOutcomes(lines, deriveScap(db));
}

function deriveCatalogs(db: Database, { lines, staging, parts, phases }: StagedRun): void {
  const controlSources = staging.sources.controls;
  if (controlSources.size > 0) {
    const removed = removeParts(db);
    noteRemoved(lines, removed);
    const isNothingLeft =
      removed.length === controlSources.size && removed.every(({ sourceId }) => controlSources.has(sourceId));
    // Without all that was just read the catalogs are as they were.
    if (!isNothingLeft || staging.replaced > 0) {
      const derive = () => deriveControls(db, (work) => phases.timed('closure', work));
      let problems = derive();
      for (; problems === null; problems = derive()) noteRemoved(lines, [removeLargest(db, controlSources)]);
      noteProblems(lines, problems);
    }
  }
  for (const { line, part } of parts)
    line.reason = [line.reason, lackingOf(db, part)].filter((each) => each !== '').join('; ');
}

/** The mapping of STIGs to roles changes with either side and with its tables. */
function deriveGuidance(db: Database, { lines, staging }: StagedRun, isDecided: boolean): void {
  if (staging.sources.documents.size > 0 || staging.replaced > 0)
    noteDocuments(lines, deriveDocuments(db, staging.sources.documents));
  const isOutdated = mappingsAreOutdated(db);
  if (staging.sources.roles.size === 0 && staging.replaced === 0 && !isDecided && !isOutdated) return;
  staging.begin();
  if (isOutdated) staging.replaced++;
  noteOutcomes(lines, deriveRoles(db, staging.sources.roles));
}
