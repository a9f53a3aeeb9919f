import type { Database } from '../src/db/database.ts';
import { prepareInsert } from '../src/db/insert.ts';
import { isReadWhole } from '../src/db/read-again.ts';
import { ImportError } from '../src/read/import-error.ts';
import { createHasOtherName, stageControls } from './controls/stage-controls.ts';
import { stageRoles } from './guidance/roles/stage-roles.ts';
import { stageDocuments } from './guidance/stage-documents.ts';
import type { OpenLine } from './ledger-lines.ts';
import { type Content, importerVersion } from './parsed.ts';
import { stageScap } from './stigs/scap-contents.ts';
import { createStageRelease, removePrinting, type StagedRelease } from './stigs/stage-release.ts';
import { stageSynonyms } from './stigs/synonyms.ts';

/** A source that is in the catalog. */
interface StoredSource {
  id: number;
  kind: string;
  importerVersion: number;
  source: string;
  target: string | null;
}

/** Stores sources one by one, each in a savepoint of the run's one transaction. */
export class Staging {
  readonly releases: StagedRelease[] = [];
  /** The ids of the sources that this run stored, by what they are about. */
  readonly sources: Record<Content['type'], Set<number>> = {
    stig: new Set(),
    controls: new Set(),
    roles: new Set(),
    documents: new Set(),
    synonyms: new Set(),
    scap: new Set(),
  };
  /** How many stored sources this run replaced, as an older importer had read them. */
  replaced = 0;
  rules = 0;
  private readonly db: Database;
  private readonly importedAt: string;
  private readonly sourceOf;
  private readonly insertSource;
  private readonly stageRelease;
  private readonly framework: string | undefined;
  private readonly hasOtherName;

  /** `framework` is the operator's name for frameworks of OSCAL catalogs (rule D40.1). */
  constructor(db: Database, importedAt: string, framework?: string) {
    this.db = db;
    this.importedAt = importedAt;
    this.framework = framework;
    this.hasOtherName = createHasOtherName(db);
    this.stageRelease = createStageRelease(db);
    this.sourceOf = db.sqlite.prepare<[string], StoredSource>(
      'SELECT id, kind, importer_version AS importerVersion, source, target FROM sources WHERE sha256 = ?',
    );
    this.insertSource = prepareInsert(db, 'sources');
  }

  begin(): void {
    if (this.db.sqlite.inTransaction) return;
    this.db.sqlite.exec('BEGIN IMMEDIATE');
    // If another process replaced the catalog during the wait for the lock, write nothing to the former one's log.
    this.db.requireInPlace();
  }

  /** The stored source with this hash, unless an older importer read it, or the operator gives it another name. */
  unchanged(sha256: string) {
    const row = this.sourceOf.get(sha256);
    if (!row || !isReadWhole(row)) return null;
    const isRenamed = row.kind === 'oscal-catalog' && this.hasOtherName(row.id, this.framework);
    return isRenamed ? null : row;
  }

  store(line: OpenLine, content: Content): OpenLine {
    const { sqlite } = this.db;
    if (!sqlite.inTransaction) {
      this.begin();
      // Another import may have stored these bytes meanwhile.
      const known = this.unchanged(line.sha256!);
      if (known) return { ...line, outcome: 'unchanged', target: known.target };
    }
    sqlite.exec('SAVEPOINT source');
    try {
      this.removeOutdated(line.sha256!);
      const { sha256, kind, source } = line;
      const { importedAt } = this;
      const facts = { sha256, kind, importerVersion, source, target: null, importedAt };
      const sourceId = this.insertSource({ id: null, ...facts });
      const stored = { ...line, sourceId, ...this.storeContent(sourceId, line, content) };
      sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?').run(stored.target, sourceId);
      sqlite.exec('RELEASE source');
      return stored;
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      sqlite.exec('ROLLBACK TO source');
      sqlite.exec('RELEASE source');
      return { ...line, outcome: 'rejected', reason: error.message };
    }
  }

  private storeContent(sourceId: number, line: OpenLine, content: Content): Partial<OpenLine> {
    const { db } = this;
    this.sources[content.type].add(sourceId);
    switch (content.type) {
      case 'stig': {
        const release = this.stageRelease({ sourceId, sha256: line.sha256! }, content.release);
        this.releases.push(release);
        this.rules += release.findingCount;
        const { id: releaseId, findingCount: rules, high, medium, low, profileCount: profiles } = release;
        return { releaseId, counts: { rules, high, medium, low, profiles } };
      }
      case 'controls':
        return stageControls(db, sourceId, content.records);
      case 'roles':
        return stageRoles(db, sourceId, content.record);
      case 'documents':
        return stageDocuments(db, sourceId, content.documents);
      case 'synonyms':
        return stageSynonyms(db, sourceId, content.groups);
      case 'scap':
        return stageScap(db, sourceId, content.contents);
    }
  }

  /** Removes what an older importer read from these bytes. */
  private removeOutdated(sha256: string): void {
    const { sqlite } = this.db;
    const source = this.sourceOf.get(sha256);
    if (!source) return;
    const printing = sqlite
      .prepare<[number], number>('SELECT id FROM stig_printings WHERE source_id = ?')
      .pluck()
      .get(source.id);
    if (printing !== undefined) removePrinting(this.db, printing);
    else sqlite.prepare('DELETE FROM sources WHERE id = ?').run(source.id);
    this.replaced++;
  }
}
