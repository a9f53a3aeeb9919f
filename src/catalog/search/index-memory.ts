import type { Database } from '../../db/database.ts';
import { slicedPerGeneration } from '../../db/one-generation.ts';
import { type IndexedRules, readIndexedRules } from './indexed-rules.ts';
import { type PostingsReader, preparePostings } from './postings.ts';
import { type Requirements, readRequirements } from './requirements.ts';
import { readVocabulary, type Vocabulary } from './vocabulary.ts';

/** What a search keeps in memory of the index, for one generation of the catalog. */
export interface IndexMemory extends IndexedRules {
  vocabulary: Vocabulary;
  postings: PostingsReader;
  requirements: Requirements;
}

/** Prepares the reading of it, in slices: 200 ms for 1,000 releases. */
export function createIndexMemory(db: Database): () => Promise<IndexMemory> {
  return slicedPerGeneration(db, function* () {
    const indexed = yield* readIndexedRules(db);
    const vocabulary = yield* readVocabulary(db);
    const postings = yield* preparePostings(db, indexed.all, vocabulary);
    return { ...indexed, vocabulary, postings, requirements: yield* readRequirements(db, indexed.all) };
  });
}
