import { AppError } from '../../base/errors.ts';
import type { Database } from '../../db/database.ts';
import { versionKey } from '../controls/frameworks.ts';
import { sortKey } from '../controls/identifier.ts';
import type { ControlService } from '../controls/queries.ts';
import { createFacts } from './facts.ts';
import { type CrosswalkService, closureDepth, defaultStatuses } from './queries.ts';

const target = 'nist-800-53';

/**
 * Makes the question what some CCIs (`CCI-000366`) are: the definition and the controls of 800-53 of each that is known, by
 * the lookup of rule D7.5 or by the references of an older revision (rule D7.4); and of these controls, in catalog order, the
 * statement, else the title. Throws NOT_FOUND for a revision that is not imported.
 */
export function createCciFacts(db: Database, crosswalk: CrosswalkService, controls: ControlService) {
  const facts = createFacts(db);

  function textsOf(framework: 'cci' | typeof target, identifier: string, revision?: string) {
    try {
      const { statement, title } = JSON.parse(controls.record(framework, identifier, revision)) as {
        statement: string;
        title: string;
      };
      return { statement, title };
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
      throw error;
    }
  }

  /** The controls whose references by a revision name a CCI. */
  function statedFor(revision: string) {
    const ccisOf = new Map<string, Set<string>>();
    const question = {
      framework: target,
      to: 'cci',
      version: revision,
      statuses: defaultStatuses,
      maxHops: 1,
    };
    const look = (identifier: string) => {
      const { paths } = crosswalk.resolve({ ...question, identifier });
      const ccis = new Set(paths.map((path) => path.controls[1]!.identifier));
      ccisOf.set(identifier, ccis);
      return ccis;
    };
    return (cci: string): string[] => {
      const ends = facts.stated({ framework: 'cci', identifier: cci }).flatMap(({ from, to }) => [from, to]);
      const named = ends.filter(({ framework }) => framework === target).map(({ identifier }) => identifier);
      return [...new Set(named)].filter((each) => (ccisOf.get(each) ?? look(each)).has(cci));
    };
  }

  return (ccis: string[], revision?: string) =>
    db.read(() => {
      const served = controls.versions(target).find(({ isServed }) => isServed)?.version ?? '';
      // Refuses what is not there.
      if (revision !== undefined) controls.list(target, { version: revision, limit: 1, words: [] });
      const isOlder = revision !== undefined && versionKey(target, revision) !== versionKey(target, served);
      const question = { framework: 'cci', to: target, statuses: defaultStatuses, maxHops: closureDepth };
      const controlsOf = isOlder
        ? statedFor(revision)
        : (identifier: string) => crosswalk.endsOf({ ...question, identifier });
      const found = new Map<string, { definition: string; controls: string[] }>();
      for (const cci of ccis) {
        const texts = textsOf('cci', cci);
        if (texts !== null) found.set(cci, { definition: texts.statement, controls: controlsOf(cci) });
      }
      const named = [...new Set([...found.values()].flatMap((each) => each.controls))];
      const order = (identifier: string) => sortKey(target, identifier);
      named.sort((a, b) => (order(a) < order(b) ? -1 : Number(order(a) > order(b))));
      const informed = named.map((identifier): [string, string] => {
        const texts = textsOf(target, identifier, revision);
        return [identifier, texts === null ? '' : texts.statement || texts.title];
      });
      return { ccis: found, controls: new Map(informed) };
    });
}
