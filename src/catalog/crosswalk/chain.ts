import type { Database } from '../../db/database.ts';
import { createFindControl } from '../controls/find-control.ts';
import type { DeprecatedCcis } from './deprecated-ccis.ts';
import type { MappingStatus } from './graph.ts';
import { type CrosswalkService, defaultStatuses } from './queries.ts';

/** A CCI of a rule with its controls. */
export interface ChainedCci {
  cci: string;
  isDeprecated: boolean;
  controls: { identifier: string; title: string; status: MappingStatus; related: string[] }[];
}

/**
 * Gives a function from the CCIs of a rule to their controls of 800-53 (rule D7.5), with the controls of 800-171 that
 * map to these.
 */
export function createRuleChain(db: Database, crosswalk: CrosswalkService, deprecated: DeprecatedCcis) {
  const findControl = createFindControl(db);
  const question = { statuses: defaultStatuses, maxHops: 1 };

  return (ccis: readonly string[]): ChainedCci[] =>
    db.read(() =>
      [...new Set(ccis)].map((cci) => {
        const source = { framework: 'cci', identifier: crosswalk.canonical('cci', cci) };
        const { paths } = crosswalk.resolve({ ...source, to: 'nist-800-53', ...question });
        return {
          cci,
          isDeprecated: deprecated([source.identifier]).length > 0,
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
