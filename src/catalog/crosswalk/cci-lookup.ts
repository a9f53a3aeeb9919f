import type { Database } from '../../db/database.ts';
import { ruleCcis } from '../../db/tables.ts';
import { type CrosswalkService, closureDepth, defaultStatuses } from './queries.ts';

export interface CciLookup {
  /** The CCIs that rules of current releases cite and that lead to a control of nist-800-53 (published form). */
  ccisOf(control: string): string[];
}

/** The CCI lookup of rule D7.5 turned round, for the CCIs that rules cite; made once for each generation. */
export function createCciLookup(db: Database, crosswalk: CrosswalkService): CciLookup {
  const cited = db.orm.selectDistinct({ cci: ruleCcis.cci }).from(ruleCcis).orderBy(ruleCcis.cci).prepare();
  let made: { generation: number; ccis: Map<string, string[]> } | null = null;

  function turnRound(): Map<string, string[]> {
    const ccis = new Map<string, string[]>();
    const question = {
      framework: 'cci',
      to: 'nist-800-53',
      statuses: defaultStatuses,
      maxHops: closureDepth,
    };
    for (const { cci } of cited.all()) {
      const controls = crosswalk.endsOf({ ...question, identifier: crosswalk.canonical('cci', cci) });
      for (const control of controls) ccis.set(control, [...(ccis.get(control) ?? []), cci]);
    }
    return ccis;
  }

  return {
    ccisOf: (control) =>
      db.read(() => {
        const generation = db.generation();
        if (made?.generation !== generation) made = { generation, ccis: turnRound() };
        return made.ccis.get(control) ?? [];
      }),
  };
}
