import type { Database } from '../src/db/database.ts';
import { prepareInsert } from '../src/db/insert.ts';
import { isReadWhole } from '../src/db/read-again.ts';
import { ImportError } from '../src/read/import-error.ts';
import { type Content, importerVersion } from './content.ts';
import { createHasOtherName, stageControls } from './controls/stage-controls.ts';
import { stageDocuments } from './guidance/documents.ts';
import { stageRoles } from './guidance/roles/stage-roles.ts';
import type { OpenLine } from './ledger-lines.ts';
import type { StagedFacts } from './read/parsed.ts';
import { stageScap } from './stigs/scap-contents.ts';
import { createStageRelease, removeSource } from './stigs/stage-release.ts';
import { stageSynonyms } from './stigs/synonyms.ts';

/** A source that is in the catalog. */
interface StoredSource {
  id: number;
  kind: string;
  importerVersion: number;
  source: string;
  target: string | null;
}

export type Staging = ReturnType<typeof createStaging>;

/**
 * Stores sources one by one, each in a savepoint of the run's one transaction. `framework` is the operator's name for
 * frameworks of OSCAL catalogs (rule D40.1).
 */
export function createStaging(db: Database, importedAt: string, framework?: string) {
  const { sqlite } = db;
  const hasOtherName = createHasOtherName(db);
  const stageRelease = createStageRelease(db);
  const insertSource = prepareInsert(db, 'sources');
  const sourceOf = sqlite.prepare<[string], StoredSource>(
    'SELECT id, kind, importer_version AS importerVersion, source, target FROM sources WHERE sha256 = ?',
  );
  const staging = {
    /** The ids of the sources that this run stored, by what they are about. */
    sources: {
      stig: new Set<number>(),
      controls: new Set<number>(),
      roles: new Set<number>(),
      documents: new Set<number>(),
      synonyms: new Set<number>(),
      scap: new Set<number>(),
    },
    /** How many stored sources this run replaced, as an older importer had read them. */
    replaced: 0,
    /** How many rules of STIGs this run stored. */
    rules: 0,
    begin,
    unchanged,
    store,
  };
  return staging;

  function begin(): void {
    if (sqlite.inTransaction) return;
    sqlite.exec('BEGIN IMMEDIATE');
    // If another process replaced the catalog during the wait for the lock, write nothing to the former one's log.
    db.requireInPlace();
  }

  /** The stored source with this hash, unless an older importer read it, or the operator gives it another name. */
  function unchanged(sha256: string): StoredSource | null {
    const row = sourceOf.get(sha256);
    if (!row || !isReadWhole(row)) return null;
    return row.kind === 'oscal-catalog' && hasOtherName(row.id, framework) ? null : row;
  }

  function store(line: OpenLine, content: Content): OpenLine {
    const { sha256, kind, source } = line;
    if (!sqlite.inTransaction) {
      begin();
      // Another import may have stored these bytes meanwhile.
      const known = unchanged(sha256!);
      if (known) return { ...line, outcome: 'unchanged', target: known.target };
    }
    sqlite.exec('SAVEPOINT source');
    try {
      const outdated = sourceOf.get(sha256!);
      if (outdated) {
        removeSource(db, outdated.id);
        staging.replaced++;
      }
      const facts = { sha256, kind, importerVersion, source, target: null, importedAt };
      const sourceId = insertSource({ id: null, ...facts });
      const stated = storeContent(sourceId, sha256!, content);
      sqlite.prepare('UPDATE sources SET target = ? WHERE id = ?').run(stated.target, sourceId);
      sqlite.exec('RELEASE source');
      staging.sources[content.type].add(sourceId);
      if (content.type === 'stig') staging.rules += content.release.findings.length;
      return { ...line, sourceId, ...stated };
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      sqlite.exec('ROLLBACK TO source');
      sqlite.exec('RELEASE source');
      return { ...line, outcome: 'rejected', reason: error.message };
    }
  }

  function storeContent(sourceId: number, sha256: string, content: Content): StagedFacts {
    switch (content.type) {
      case 'stig':
        return stageRelease(sourceId, sha256, content.release);
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
}
