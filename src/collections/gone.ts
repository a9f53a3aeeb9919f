import { and, eq, isNull, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Database } from '../db/database.ts';
import {
  type CollectionKind,
  collectionControls,
  collectionDocuments,
  collectionRoles,
  collections,
  favoriteControls,
  favoriteStigs,
  listStigs,
} from '../db/user-tables.ts';
import { createReferences, stigOf } from './references.ts';

/** Something of users' data that refers to what the catalog does not have. */
export interface GoneReference {
  kind: CollectionKind | 'favorite';
  /** The id and the name of the list or collection; null of a favorite. */
  id: string | null;
  name: string | null;
  owner: string;
  /** The slug, identifier, document id or occupation code, and the title that was seen. */
  refersTo: string;
  title: string;
}

/** Everything in lists, collections and favorites that refers to what is not in the catalog, in a settled order. */
export function goneReferences(db: Database): GoneReference[] {
  const { orm } = db;
  const references = createReferences(db);
  const { kind, id, name, createdById: owner } = collections;
  const of = { kind, id, name, owner };
  const notDeleted = isNull(collections.deletedAt);
  const inCollection = ({ collectionId }: { collectionId: SQLiteColumn }) =>
    and(eq(collections.id, collectionId), notDeleted);
  const favorite = { kind: sql<'favorite'>`'favorite'`, id: sql<null>`NULL`, name: sql<null>`NULL` };

  const stigs = [
    ...orm
      .select({ ...of, refersTo: listStigs.slug, title: listStigs.title })
      .from(listStigs)
      .innerJoin(collections, inCollection(listStigs))
      .where(isNull(stigOf(listStigs)))
      .all(),
    ...orm
      .select({
        ...favorite,
        owner: favoriteStigs.subject,
        refersTo: favoriteStigs.slug,
        title: favoriteStigs.title,
      })
      .from(favoriteStigs)
      .where(isNull(stigOf(favoriteStigs)))
      .all(),
  ];
  const allControls = [
    ...orm
      .select({ ...of, control: controlColumns(collectionControls) })
      .from(collectionControls)
      .innerJoin(collections, inCollection(collectionControls))
      .all(),
    ...orm
      .select({ ...favorite, owner: favoriteControls.subject, control: controlColumns(favoriteControls) })
      .from(favoriteControls)
      .all(),
  ];
  const known = references.knownControls(allControls.map(({ control }) => control));
  const controls = allControls
    .filter(({ control }) => !known.has(control))
    .map(({ control: { framework, identifier, title }, ...row }) => ({
      ...row,
      refersTo: `${framework}:${identifier}`,
      title,
    }));
  const documents = orm
    .select({ ...of, refersTo: collectionDocuments.documentId, summary: collectionDocuments.summary })
    .from(collectionDocuments)
    .innerJoin(collections, inCollection(collectionDocuments))
    .all()
    .filter(({ refersTo }) => references.document(refersTo).seen === null);
  const roles = orm
    .select({ ...of, refersTo: collectionRoles.occupationCode, summary: collectionRoles.summary })
    .from(collectionRoles)
    .innerJoin(collections, inCollection(collectionRoles))
    .all()
    .filter(({ refersTo }) => references.occupation(refersTo).seen === null);
  const summarized = [...documents, ...roles].map(({ summary, ...row }) => ({
    ...row,
    title: String((summary as { title?: unknown }).title ?? ''),
  }));
  const sortKey = (row: GoneReference) => `${row.kind} ${row.id ?? ''} ${row.owner} ${row.refersTo}`;
  return [...stigs, ...controls, ...summarized].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

const controlColumns = ({
  framework,
  identifier,
  title,
  family,
}: typeof collectionControls | typeof favoriteControls) => ({ framework, identifier, title, family });
