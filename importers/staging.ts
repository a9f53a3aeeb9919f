import { eq, sql } from 'drizzle-orm';
import type { Database } from '../src/db/database.ts';
import { sources, stigReleases } from '../src/db/tables.ts';
import { createStageControls } from './controls/stage-controls.ts';
import { createStageRoles } from './guidance/roles/stage-roles.ts';
import { createStageDocuments } from './guidance/stage-documents.ts';
import type { OpenLine } from './ledger.ts';
import { type Content, importerVersion } from './parsed.ts';
import { ImportError } from './read/errors.ts';
import { createStageRelease, type StagedRelease } from './stigs/stage-release.ts';
import { removeRelease } from './stigs/store.ts';
import type { XccdfRelease } from './stigs/xccdf-record.ts';

/** Stores the content of sources one by one, each in a savepoint of the run's one transaction. */
export class Staging {
  readonly releases: StagedRelease[] = [];
  readonly controlSources = new Set<number>();
  readonly roleSources = new Set<number>();
  readonly documentSources = new Set<number>();
  /** How many stored sources gave way to what this run made of the same bytes. */
  replaced = 0;
  rules = 0;
  private readonly db: Database;
  private readonly importedAt: string;
  private readonly sourceOf;
  private readonly stageRelease;
  private readonly stageControls;
  private readonly stageRoles;
  private readonly stageDocuments;

  constructor(db: Database, importedAt: string) {
    this.db = db;
    this.importedAt = importedAt;
    this.sourceOf = db.orm
      .select()
      .from(sources)
      .where(eq(sources.sha256, sql.placeholder('sha256')))
      .prepare();
    this.stageRelease = createStageRelease(db);
    this.stageControls = createStageControls(db);
    this.stageRoles = createStageRoles(db);
    this.stageDocuments = createStageDocuments(db);
  }

  /** Begins the run's transaction unless it is under way. */
  begin(): void {
    if (!this.db.sqlite.inTransaction) this.db.sqlite.exec('BEGIN IMMEDIATE');
  }

  /** The stored source with these bytes, unless an older importer read it. */
  unchanged(sha256: string) {
    const row = this.sourceOf.get({ sha256 });
    return row?.importerVersion === importerVersion ? row : null;
  }

  /** Stores the content of one source; a source that turns out bad is rolled back alone. Gives its ledger line. */
  store(line: OpenLine, content: Content): OpenLine {
    const { sqlite } = this.db;
    if (!sqlite.inTransaction) {
      this.begin();
      // Another import may have stored the same bytes while this one was reading.
      const known = this.unchanged(line.sha256!);
      if (known) return { ...line, outcome: 'unchanged', target: known.target };
    }
    sqlite.exec('SAVEPOINT source');
    try {
      const wasStored = this.removeOutdated(line.sha256!);
      const sourceId = this.addSource(line);
      const stored =
        content.type === 'stig'
          ? this.storeStig(sourceId, line, content.release, wasStored)
          : this.storeFacts(sourceId, line, content);
      sqlite.exec('RELEASE source');
      return stored;
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      sqlite.exec('ROLLBACK TO source');
      sqlite.exec('RELEASE source');
      return { ...line, outcome: 'rejected', reason: error.message };
    }
  }

  private storeStig(sourceId: number, line: OpenLine, record: XccdfRelease, wasStored: boolean): OpenLine {
    const release = { ...this.stageRelease(sourceId, line.sha256!, record), wasStored };
    this.releases.push(release);
    this.rules += release.findingCount;
    const { high, medium, low, profileCount } = release;
    const counts = { rules: release.findingCount, high, medium, low, profiles: profileCount };
    return { ...line, counts, sourceId, releaseId: release.id };
  }

  private storeFacts(
    sourceId: number,
    line: OpenLine,
    content: Exclude<Content, { type: 'stig' }>,
  ): OpenLine {
    const { target, counts } = this.stageFacts(sourceId, content);
    this.db.orm.update(sources).set({ target }).where(eq(sources.id, sourceId)).run();
    return { ...line, counts, target, sourceId };
  }

  private stageFacts(sourceId: number, content: Exclude<Content, { type: 'stig' }>) {
    switch (content.type) {
      case 'controls':
        this.controlSources.add(sourceId);
        return this.stageControls(sourceId, content.records);
      case 'roles':
        this.roleSources.add(sourceId);
        return this.stageRoles(sourceId, content.record);
      case 'documents':
        this.documentSources.add(sourceId);
        return this.stageDocuments(sourceId, content.documents);
    }
  }

  /** Forgets what an older importer version made of these bytes; tells whether there was anything. */
  private removeOutdated(sha256: string): boolean {
    const { orm } = this.db;
    const source = this.sourceOf.get({ sha256 });
    if (!source) return false;
    const release = orm
      .select({ id: stigReleases.id })
      .from(stigReleases)
      .where(eq(stigReleases.sourceId, source.id))
      .get();
    if (release) removeRelease(this.db, release.id);
    else orm.delete(sources).where(eq(sources.id, source.id)).run();
    this.replaced++;
    return true;
  }

  private addSource(line: OpenLine): number {
    const { importedAt } = this;
    const row = {
      sha256: line.sha256!,
      kind: line.kind,
      importerVersion,
      source: line.source,
      target: null,
      importedAt,
    };
    return this.db.orm.insert(sources).values(row).returning({ id: sources.id }).get().id;
  }
}
