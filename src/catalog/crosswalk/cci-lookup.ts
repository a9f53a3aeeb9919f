import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { ruleCcis } from '../../db/tables.ts';
import { type CrosswalkService, cciQuestion } from './queries.ts';

export interface CciLookup {
  /** The CCIs that rules of current releases cite and that lead to a control of nist-800-53 (published form). */
  ccisOf(control: string): string[];
}

/** The CCI lookup of rule D7.5 from a control to its CCIs. */
export function createCciLookup(db: Database, crosswalk: CrosswalkService): CciLookup {
  const cited = db.orm.selectDistinct({ cci: ruleCcis.cci }).from(ruleCcis).orderBy(ruleCcis.cci).prepare();
  const ccisByControl = perGeneration(db, () => {
    const ccis = new Map<string, string[]>();
    for (const { cci } of cited.all()) {
      const controls = crosswalk.endsOf({ ...cciQuestion, identifier: crosswalk.canonical('cci', cci) });
      for (const control of controls) ccis.set(control, [...(ccis.get(control) ?? []), cci]);
    }
    return ccis;
  });
  return { ccisOf: (control) => db.read(() => ccisByControl().get(control) ?? []) };
}
