import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { Stated } from '../read/stated.ts';
import type { ScapContent } from './scap.ts';

/** Stores the SCAP content of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageScap(db: Database, sourceId: number, contents: ScapContent[]): Stated {
  const insert = prepareInsert(db, 'scap_facts');
  for (const [index, { rules, ...content }] of contents.entries()) {
    const stated = rules.map(({ ruleId, groupId, automated }): [string, string, 0 | 1] => [
      ...([ruleId, groupId] as const),
      automated ? 1 : 0,
    ]);
    insert({ sourceId, ordinal: index + 1, ...content, rules: stated });
  }
  const rules = contents.flatMap((content) => content.rules);
  const automated = rules.filter((rule) => rule.automated).length;
  return {
    target: contents.map(({ benchmarkId }) => benchmarkId).join(', '),
    counts: { rules: rules.length, automated, manual: rules.length - automated },
  };
}
