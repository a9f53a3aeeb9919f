import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm';
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
import { createReferences, type Reference, stigOf } from './references.ts';

/** A reference from users' data to something that the catalog does not have. */
export interface GoneReference {
  kind: CollectionKind | 'favorite';
  /** Of the list or collection; null for a favorite, as is the name. */
  id: string | null;
  name: string | null;
  owner: string;
  /** The slug, identifier, document id or occupation code. */
  refersTo: string;
  title: string;
}

/** Every reference of lists, collections and favorites to something that the catalog does not have, sorted. */
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
        ...{ ...favorite, owner: favoriteStigs.subject },
        ...{ refersTo: favoriteStigs.slug, title: favoriteStigs.title },
      })
      .from(favoriteStigs)
      .where(isNull(stigOf(favoriteStigs)))
      .all(),
  ];
  const allControls = [
    ...orm
      .select({ ...of, control: getTableColumns(collectionControls) })
      .from(collectionControls)
      .innerJoin(collections, inCollection(collectionControls))
      .all(),
    ...orm
      .select({ ...favorite, owner: favoriteControls.subject, control: getTableColumns(favoriteControls) })
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
  const summarized = (
    table: typeof collectionDocuments | typeof collectionRoles,
    refersTo: SQLiteColumn,
    find: (key: string) => Reference,
  ) =>
    orm
      .select({ ...of, refersTo: sql<string>`${refersTo}`, summary: table.summary })
      .from(table)
      .innerJoin(collections, inCollection(table))
      .all()
      .filter(({ refersTo }) => find(refersTo).seen === null)
      .map(({ summary, ...row }) => ({
        ...row,
        title: String((summary as { title?: unknown }).title ?? ''),
      }));
  const documents = summarized(collectionDocuments, collectionDocuments.documentId, references.document);
  const roles = summarized(collectionRoles, collectionRoles.occupationCode, references.occupation);
  const sortKey = (row: GoneReference) => `${row.kind} ${row.id ?? ''} ${row.owner} ${row.refersTo}`;
  return [...stigs, ...controls, ...documents, ...roles].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}
