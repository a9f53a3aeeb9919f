import { and, eq } from 'drizzle-orm';
import { frameworkVersions } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { cciRevisions, versionKey } from '../controls/frameworks.ts';
import { oscalId, sortKey } from '../controls/identifier.ts';
import { catalogResource } from '../controls/oscal.ts';
import type { AddressedControls } from '../stigs/component.ts';
import { createFacts } from './facts.ts';
import { type CrosswalkService, cciQuestion } from './queries.ts';

const { to } = cciQuestion;

/** Gives the controls of 800-53 that rules address through their CCIs, by the CCI lookup (rule D7.5). */
export function createAddressed(db: Database, crosswalk: CrosswalkService): AddressedControls {
  const facts = createFacts(db);
  const versionOf = (framework: string) =>
    db.orm
      .select({ version: frameworkVersions.version })
      .from(frameworkVersions)
      .where(and(eq(frameworkVersions.framework, framework), eq(frameworkVersions.isNewest, 1)))
      .get()?.version ?? '';

  return (ccis) =>
    db.read(() => ({
      catalog: catalogResource(to, versionOf(to)),
      cciList: versionOf('cci'),
      controls: ccis.flatMap((cci) => {
        const source = { framework: 'cci', identifier: crosswalk.canonical('cci', cci) };
        return crosswalk.endsOf({ ...cciQuestion, ...source }).map((identifier) => {
          const evidence = facts.evidence(source, { framework: to, identifier });
          const revisions = evidence.map((pair) => Number(versionKey(to, pair.to.version)));
          const carriedOver =
            revisions.length > 0 && revisions.every((each) => each === cciRevisions.carriedOver);
          return { cci, id: oscalId(to, identifier), order: sortKey(to, identifier), carriedOver };
        });
      }),
    }));
}
