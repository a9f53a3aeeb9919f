import { eq } from 'drizzle-orm';
import type { Database } from '../src/db/database.ts';
import { sources } from '../src/db/tables.ts';
import type { CatalogPart } from './controls/catalog.ts';
import { lackingOf, removeParts } from './controls/parts.ts';
import { deriveControls } from './crosswalk/derive.ts';
import { deriveDocuments } from './guidance/derive-documents.ts';
import { deriveRoles, remapStigs, ruleIsOutdated } from './guidance/roles/derive-roles.ts';
import type { OpenLine } from './ledger.ts';
import { noteDecisions, noteParts } from './outcomes.ts';
import type { Phases } from './phases.ts';
import type { SourceProblem } from './read/errors.ts';
import type { Staging } from './staging.ts';
import type { EmptiedSlug } from './stigs/emptied-slugs.ts';
import { decideIdentity } from './stigs/identity.ts';
import { createSearchIndex } from './stigs/search-index.ts';

/** The line of a catalog that says itself that it is a part. */
export interface StatedPart {
  line: OpenLine;
  part: CatalogPart;
}

/** A run whose sources are all read and staged. */
interface StagedRun {
  lines: OpenLine[];
  staging: Staging;
  parts: StatedPart[];
  overrides: Map<string, string>;
  phases: Phases;
}

interface DerivedRun {
  /** How many releases an override moved to another STIG. */
  moved: number;
  /** The benchmark ids of overrides that no benchmark bears. */
  unmetOverrides: string[];
  emptied: EmptiedSlug[];
}

/**
 * Derives what follows from all sources, inside the run's transaction, and puts it into the lines of the ledger: to which STIG
 * each release belongs, the catalogs and the crosswalk, documents and roles. The order of the sources does not matter.
 */
export function deriveAll(db: Database, run: StagedRun): DerivedRun {
  const { phases } = run;
  const { touched, ...derived } = phases.timed('identity', () => decideStigs(db, run));
  phases.timed('controls', () => deriveCatalogs(db, run));
  phases.timed('roles', () => deriveGuidance(db, run, touched));
  return derived;
}

/** Decides to which STIG the staged releases belong. Gives also the ids of the STIGs whose releases changed. */
function decideStigs(
  db: Database,
  { lines, staging, overrides, phases }: StagedRun,
): DerivedRun & { touched: Set<number> } {
  if (staging.releases.length === 0 && overrides.size === 0)
    return { moved: 0, unmetOverrides: [], emptied: [], touched: new Set() };
  staging.begin();
  const identity = decideIdentity(db, staging.releases, overrides);
  phases.timed('search', () => createSearchIndex(db).reconcile());
  const targetOf = (sha256: string) => staging.unchanged(sha256)?.target ?? null;
  for (const { target, sourceId } of noteDecisions(lines, identity, targetOf))
    db.orm.update(sources).set({ target }).where(eq(sources.id, sourceId!)).run();
  const { moved, unmet: unmetOverrides, left: emptied, touched } = identity;
  return { moved, unmetOverrides, emptied, touched };
}

/** The catalogs of controls and the crosswalk. */
function deriveCatalogs(db: Database, { lines, staging, parts, phases }: StagedRun): void {
  if (staging.controlSources.size > 0) {
    noteParts(lines, removeParts(db));
    warn(
      lines,
      deriveControls(db, (work) => phases.timed('closure', work)),
    );
  }
  for (const { line, part } of parts)
    line.reason = [line.reason, lackingOf(db, part)].filter((each) => each !== '').join('; ');
}

/** Documents, roles, and the mapping of STIGs to roles, which changes with either side and with its rule. */
function deriveGuidance(db: Database, { lines, staging }: StagedRun, touched: Set<number>): void {
  const superseded = new Map<number, string>();
  if (staging.documentSources.size > 0 || staging.replaced > 0)
    deriveDocuments(db, staging.documentSources, superseded);
  const outdated = ruleIsOutdated(db);
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
