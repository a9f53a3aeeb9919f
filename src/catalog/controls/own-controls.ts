import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { frameworks } from './frameworks.ts';

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
export function createFindOwnControl({ sqlite, generation }: Database): FindOwnControl {
  const rows = sqlite.prepare<[string], OwnControl>(
    `SELECT c.framework, c.identifier AS id, c.title, c.status
       FROM framework_versions AS v JOIN controls AS c ON c.framework = v.framework AND c.version = v.version
      WHERE v.is_default = 1 AND v.framework NOT IN (SELECT value FROM json_each(?))`,
  );
  const byId = perGeneration({ generation }, () =>
    Map.groupBy(rows.all(JSON.stringify(frameworks)), ({ id }) => fold(id)),
  );
  return (text) => {
    const found = /\d/.test(text) ? byId().get(fold(text.trim())) : undefined;
    return found?.length === 1 ? found[0]! : null;
  };
}
