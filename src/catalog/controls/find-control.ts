import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { frameworks, isPublished } from './frameworks.ts';
import { canonicalIdentifier } from './identifier.ts';

/** A control as GET /controls shows it. */
interface KnownControl {
  identifier: string;
  title: string;
  family: string;
  statement: string;
}

/** A control of a framework that the site imported, as its catalogs list it. */
export interface OwnControl {
  framework: string;
  id: string;
  title: string;
  status: 'active' | 'withdrawn';
}

export type FindOwnControl = (text: string) => OwnControl | null;

const published = JSON.stringify(frameworks);

/**
 * Prepares the look-up of many controls at once, each by its id or its identifier in any usual spelling (rule D6.1).
 * The result is in the order of the request, with null for an unknown control.
 */
export function createFindControls(db: Database) {
  const publishedForm = createPublishedForm(db);
  const find = db.sqlite.prepare<[string], KnownControl & { at: number }>(
    `SELECT n.key AS at, k.identifier, k.title, k.family, k.statement
       FROM json_each(?) AS n CROSS JOIN known_controls AS k ON k.id = coalesce(
            (SELECT id FROM control_keys WHERE id = n.value ->> 1 AND framework = n.value ->> 0),
            (SELECT id FROM control_keys WHERE framework = n.value ->> 0 AND identifier = n.value ->> 2))`,
  );
  return (named: { framework: string; controlId: string }[]): (KnownControl | null)[] => {
    const names = named.map(({ framework, controlId }) => [
      framework,
      controlId.toLowerCase(),
      publishedForm(framework, controlId),
    ]);
    const found: (KnownControl | null)[] = named.map(() => null);
    for (const { at, ...control } of find.all(JSON.stringify(names))) found[at] = control;
    return found;
  };
}

/** Prepares the look-up of one control, null for one that is not known. */
export function createFindControl(db: Database) {
  const find = createFindControls(db);
  return (framework: string, controlId: string): KnownControl | null => find([{ framework, controlId }])[0]!;
}

/**
 * Finds the control of a site's own frameworks that a text names, in any case (rules D35.2, D40.1); null for a text that is
 * none, or one of several frameworks: nobody could say which is meant. An id without a digit is a word.
 */
export function createFindOwnControl(db: Pick<Database, 'sqlite' | 'catalogVersion'>): FindOwnControl {
  const controls = db.sqlite.prepare<[string], OwnControl>(
    `SELECT c.framework, c.identifier AS id, c.title, c.status
       FROM framework_versions AS v JOIN controls AS c ON c.framework = v.framework AND c.version = v.version
      WHERE v.is_default = 1 AND v.framework NOT IN (SELECT value FROM json_each(?))`,
  );
  const byId = perCatalogVersion(db, () => Map.groupBy(controls.all(published), ({ id }) => fold(id)));
  return (text) => {
    const found = /\d/.test(text) ? (byId().get(fold(text.trim())) ?? []) : [];
    return found.length === 1 ? found[0]! : null;
  };
}

/**
 * Gives a function for the published form of an identifier in any of its spellings, as `canonicalIdentifier`. Of a site's
 * own framework it finds the identifier of a control or mapping in any case (rule D54.1), as written where two differ by
 * case alone.
 */
export function createPublishedForm(db: Pick<Database, 'sqlite' | 'catalogVersion'>) {
  const identifiers = db.sqlite.prepare<object, { framework: string; identifier: string }>(
    `SELECT framework, identifier FROM control_keys WHERE framework NOT IN (SELECT value FROM json_each(@published))
      UNION SELECT framework, identifier FROM crosswalk_nodes
      WHERE framework NOT IN (SELECT value FROM json_each(@published))`,
  );
  const keyOf = (framework: string, identifier: string) => `${framework}\0${fold(identifier)}`;
  const byKey = perCatalogVersion(db, () =>
    Map.groupBy(identifiers.all({ published }), (each) => keyOf(each.framework, each.identifier)),
  );
  return (framework: string, text: string): string | null => {
    const spelling = canonicalIdentifier(framework, text);
    if (spelling === null || isPublished(framework)) return spelling;
    const known = byKey().get(keyOf(framework, spelling)) ?? [];
    return known.length === 1 ? known[0]!.identifier : spelling;
  };
}
