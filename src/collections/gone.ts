import type { Database } from '../db/database.ts';
import type { CollectionKind } from '../db/user-tables.ts';
import { stigOf } from './references.ts';

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

const ofCollection = 'kind, id, name, created_by_id AS owner';
const ofFavorite = "'favorite', NULL, NULL, subject";
const inCollection = 'JOIN bundles ON bundles.id = entry.collection_id AND deleted_at IS NULL';
const control = "entry.framework || ':' || entry.identifier";
const isGoneControl = `NOT EXISTS (SELECT 1 FROM known_controls AS known
  WHERE known.framework = entry.framework AND known.identifier = entry.identifier)`;

const gone = `
  SELECT ${ofCollection}, slug AS refersTo, title
    FROM list_stigs AS entry JOIN bundles ON bundles.id = list_id AND deleted_at IS NULL
   WHERE ${stigOf('entry')} IS NULL
  UNION ALL
  SELECT ${ofFavorite}, slug, title FROM favorite_stigs AS entry WHERE ${stigOf('entry')} IS NULL
  UNION ALL
  SELECT ${ofCollection}, ${control}, title FROM collection_controls AS entry ${inCollection} WHERE ${isGoneControl}
  UNION ALL
  SELECT ${ofFavorite}, ${control}, title FROM favorite_controls AS entry WHERE ${isGoneControl}
  UNION ALL
  SELECT ${ofCollection}, document_id, coalesce(summary_json ->> 'title', '')
    FROM collection_documents AS entry ${inCollection}
   WHERE NOT EXISTS (SELECT 1 FROM documents WHERE documents.document_id = entry.document_id)
  UNION ALL
  SELECT ${ofCollection}, occupation_code, coalesce(summary_json ->> 'title', '')
    FROM collection_roles AS entry ${inCollection}
   WHERE NOT EXISTS (SELECT 1 FROM occupations WHERE occupations.occupation_code = entry.occupation_code)
  ORDER BY kind, id, owner, refersTo`;

/** Every reference of lists, collections and favorites to something that the catalog does not have, sorted. */
export const goneReferences = ({ sqlite }: Database): GoneReference[] =>
  sqlite.prepare<[], GoneReference>(gone).all();
