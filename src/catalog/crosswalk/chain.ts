import type { Database } from '../../db/database.ts';
import { createFindControl } from '../controls/find-control.ts';
import type { MappingStatus } from './graph.ts';
import { type CrosswalkService, defaultStatuses } from './queries.ts';

/** What a CCI of a rule leads to. */
export interface ChainedCci {
  cci: string;
  controls: { identifier: string; title: string; status: MappingStatus; related: string[] }[];
}

export type RuleChain = (ccis: readonly string[]) => ChainedCci[];

/**
 * Makes what follows the CCIs of a rule to the controls of 800-53, as the CCI lookup has it (rule D7.5), and on to the
 * controls of 800-171 that map to these.
 */
export function createRuleChain(db: Database, crosswalk: CrosswalkService): RuleChain {
  const findControl = createFindControl(db);
  const question = { statuses: defaultStatuses, maxHops: 1 };

  return (ccis) =>
    db.read(() =>
      [...new Set(ccis)].map((cci) => {
        const source = { framework: 'cci', identifier: crosswalk.canonical('cci', cci) };
        const { paths } = crosswalk.resolve({ ...source, to: 'nist-800-53', ...question });
        return {
          cci,
          controls: paths.map((path) => {
            const { framework, identifier, status } = path.controls.at(-1)!;
            const title = findControl(framework, identifier)?.title ?? '';
            const related = crosswalk.endsOf({ framework, identifier, to: 'nist-800-171', ...question });
            return { identifier, title, status, related };
          }),
        };
      }),
    );
}
