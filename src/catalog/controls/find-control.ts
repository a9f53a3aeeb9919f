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
interface OwnControl {
  framework: string;
  id: string;
  title: string;
  status: 'active' | 'withdrawn';
}

export type FindOwnControl = (text: string) => OwnControl | null;

/** Prepares the look-ups of controls by what people write. */
export function createControlLookup(db: Database) {
  // The status is null for an identifier that the served version does not have.
  const ownIdentifiers = db.sqlite.prepare<[string], OwnControl>(
    `SELECT n.framework, n.identifier AS id, c.title, c.status
       FROM (SELECT framework, identifier FROM control_keys UNION SELECT framework, identifier FROM crosswalk_nodes) AS n
       LEFT JOIN framework_versions AS v ON v.framework = n.framework AND v.is_default = 1
       LEFT JOIN controls AS c
              ON c.framework = n.framework AND c.version = v.version AND c.identifier = n.identifier
      WHERE n.framework NOT IN (SELECT value FROM json_each(?))`,
  );
  const known = db.sqlite.prepare<[string], KnownControl & { at: number }>(
    `SELECT n.key AS at, k.identifier, k.title, k.family, k.statement
       FROM json_each(?) AS n CROSS JOIN known_controls AS k ON k.id = coalesce(
            (SELECT id FROM control_keys WHERE id = n.value ->> 1 AND framework = n.value ->> 0),
            (SELECT id FROM control_keys WHERE framework = n.value ->> 0 AND identifier = n.value ->> 2))`,
  );
  const byFoldedId = perCatalogVersion(db, () =>
    Map.groupBy(ownIdentifiers.all(JSON.stringify(frameworks)), ({ id }) => fold(id)),
  );

  /**
   * The published form of an identifier in any of its spellings, as `canonicalIdentifier`. Of a site's own framework it is
   * the identifier of a control or mapping in any case (rule D54.1), as written where two differ by case alone.
   */
  function publishedForm(framework: string, text: string): string | null {
    const spelling = canonicalIdentifier(framework, text);
    if (spelling === null || isPublished(framework)) return spelling;
    const found = (byFoldedId().get(fold(spelling)) ?? []).filter((each) => each.framework === framework);
    return found.length === 1 ? found[0]!.id : spelling;
  }

  return {
    publishedForm,

    /**
     * Many controls at once, each by its id or its identifier in any usual spelling (rule D6.1), in the order of the
     * request; null for an unknown control.
     */
    findControls(named: { framework: string; controlId: string }[]): (KnownControl | null)[] {
      const names = named.map(({ framework, controlId }) => [
        framework,
        controlId.toLowerCase(),
        publishedForm(framework, controlId),
      ]);
      const found: (KnownControl | null)[] = named.map(() => null);
      for (const { at, ...control } of known.all(JSON.stringify(names))) found[at] = control;
      return found;
    },

    /**
     * The control of a site's own frameworks that a text names, in any case (rules D35.2, D40.1); null for a text that is
     * none, or one of several frameworks: nobody could say which is meant. An id without a digit is a word.
     */
    ownControl(text: string): OwnControl | null {
      const found = /\d/.test(text) ? (byFoldedId().get(fold(text.trim())) ?? []) : [];
      const [control, ...others] = found.filter(({ status }) => status !== null);
      return control !== undefined && others.length === 0 ? control : null;
    },
  };
}
