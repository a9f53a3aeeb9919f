import { AppError } from '../../base/errors.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { ruleCcis } from '../../db/tables.ts';
import { createFindOwnControl, type FindOwnControl } from '../controls/find-control.ts';
import { pathsToCcis } from './control-rules.ts';
import { createFilterNode, createFindNode } from './find-node.ts';
import { type CrosswalkService, cciQuestion } from './queries.ts';

export interface CciLookup {
  /** The CCIs that rules of current releases cite and that lead to a control of nist-800-53 (published form). */
  ccisOf(control: string): string[];
  /** The identifier that a filter names. Throws 400 and 404 (rule D35.3). */
  filtered: ReturnType<typeof createFilterNode>;
  /** The CCIs through which a control or CCI has rules, as `control-rules` goes; null for one in no source. */
  reached(id: { framework: string | null; id: string }): string[] | null;
  ownControl: FindOwnControl;
  /** The CCI of a filter, as typed and in its published form. Throws as `filtered`. */
  typed(text?: string): { typed: string; canonical: string | undefined };
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
  const filtered = createFilterNode(db, crosswalk);
  const find = createFindNode(db, crosswalk);
  return {
    ccisOf: (control) => db.read(() => ccisByControl().get(control) ?? []),
    filtered,
    ownControl: createFindOwnControl(db),
    reached: ({ framework, id }) =>
      db.read(() => {
        try {
          return [...pathsToCcis(crosswalk, find(framework ?? 'cci', id), {}).paths.keys()];
        } catch (error) {
          if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
          throw error;
        }
      }),
    typed(text = '') {
      const typed = text.trim();
      return { typed, canonical: typed === '' ? undefined : filtered('cci', typed) };
    },
  };
}
