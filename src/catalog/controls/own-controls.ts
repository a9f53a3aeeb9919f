import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { frameworks, isPublished } from './frameworks.ts';
import { canonicalIdentifier } from './identifier.ts';

/** A control of a framework that the site imported, as its catalogs list it. */
export interface OwnControl {
  framework: string;
  id: string;
  title: string;
  status: 'active' | 'withdrawn';
}

export type FindOwnControl = (text: string) => OwnControl | null;

/**
 * Finds the control of a site's own frameworks that a text names, in any case (rules D35.2, D40.1); null for a text that is
 * none, or one of several frameworks: nobody could say which is meant. An id without a digit is a word.
 */
export function createFindOwnControl({ sqlite, catalogVersion }: Database): FindOwnControl {
  const rows = sqlite.prepare<[string], OwnControl>(
    `SELECT c.framework, c.identifier AS id, c.title, c.status
       FROM framework_versions AS v JOIN controls AS c ON c.framework = v.framework AND c.version = v.version
      WHERE v.is_default = 1 AND v.framework NOT IN (SELECT value FROM json_each(?))`,
  );
  const byId = perGeneration({ catalogVersion }, () =>
    Map.groupBy(rows.all(JSON.stringify(frameworks)), ({ id }) => fold(id)),
  );
  return (text) => {
    const found = /\d/.test(text) ? byId().get(fold(text.trim())) : undefined;
    return found?.length === 1 ? found[0]! : null;
  };
}

export type PublishedForm = (framework: string, text: string) => string | null;

/**
 * Gives a function for the published form of an identifier in any of its spellings, as `canonicalIdentifier`. Of a site's
 * own framework it finds the identifier of a control or mapping in any case (rule D54.1), as written where two differ by
 * case alone.
 */
export function createPublishedForm({ sqlite, catalogVersion }: Database): PublishedForm {
  const rows = sqlite.prepare<{ published: string }, { framework: string; identifier: string }>(
    `SELECT framework, identifier FROM control_keys WHERE framework NOT IN (SELECT value FROM json_each(@published))
      UNION SELECT framework, identifier FROM crosswalk_nodes
      WHERE framework NOT IN (SELECT value FROM json_each(@published))`,
  );
  const keyOf = (framework: string, identifier: string) => `${framework}\0${fold(identifier)}`;
  const byKey = perGeneration({ catalogVersion }, () =>
    Map.groupBy(rows.all({ published: JSON.stringify(frameworks) }), (each) =>
      keyOf(each.framework, each.identifier),
    ),
  );
  return (framework, text) => {
    const spelling = canonicalIdentifier(framework, text);
    if (spelling === null || isPublished(framework)) return spelling;
    const known = byKey().get(keyOf(framework, spelling));
    return known?.length === 1 ? known[0]!.identifier : spelling;
  };
}
