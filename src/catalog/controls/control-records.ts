import { and, asc, desc, eq, gt, gte, lt, or, sql } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import type { JsonText } from '../../base/json.ts';
import { cut } from '../../base/text.ts';
import { controlKeys, controls, frameworkVersions } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import type { ControlAssessments } from './assessment.ts';
import type { StoredAssessment } from './assessment-record.ts';
import { compareVersions } from './frameworks.ts';
import { createPublishedForm } from './own-controls.ts';
import type { Assessment, ShownControl } from './schema.ts';
import { type ControlVersions, ofControl } from './versions.ts';

const [framework, version] = [sql.placeholder('framework'), sql.placeholder('version')];
const identifier = sql.placeholder('identifier');

/** Gives a function that reads the stored text of a control, and the edition of its version. */
function createFind(db: Database, { versionOf, defaultVersions }: ControlVersions) {
  const { orm } = db;
  const publishedForm = createPublishedForm(db);
  const keyOfId = orm
    .select({ identifier: controlKeys.identifier })
    .from(controlKeys)
    .where(and(eq(controlKeys.id, sql.placeholder('id')), eq(controlKeys.framework, framework)))
    .prepare();
  const isOfVersion = and(eq(controls.framework, framework), eq(controls.version, version));
  const byIdentifier = orm
    .select({ recordJson: controls.recordJson, edition: frameworkVersions.edition })
    .from(controls)
    .innerJoin(frameworkVersions, ofControl)
    .where(and(isOfVersion, eq(controls.identifier, identifier)))
    .prepare();
  const versionsWith = orm
    .select({ version: controls.version })
    .from(controlKeys)
    .innerJoin(controls, eq(controls.controlId, controlKeys.id))
    .where(and(eq(controlKeys.framework, framework), eq(controlKeys.identifier, identifier)))
    .prepare();

  /** Throws NOT_FOUND, and names the versions that have the control. */
  return (framework: string, controlId: string, wanted: string | undefined) =>
    db.read(() => {
      const identifier =
        keyOfId.get({ id: controlId.toLowerCase(), framework })?.identifier ??
        publishedForm(framework, controlId);
      const versions =
        wanted === undefined ? defaultVersions(framework) : [versionOf(framework, wanted) ?? ''];
      for (const version of versions) {
        const found = identifier === null ? undefined : byIdentifier.get({ framework, version, identifier });
        if (found) return { recordJson: found.recordJson, edition: found.edition || null };
      }
      const others =
        identifier === null ? [] : versionsWith.all({ framework, identifier }).map((row) => row.version);
      const named = others.sort((a, b) => compareVersions(b, a)).map((version) => cut(version));
      const elsewhere =
        named.length === 0 ? '' : ` is not in ${cut(versions[0] ?? '')}. It is in ${named.join(', ')}`;
      throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}${elsewhere}`);
    });
}

/** A record as the catalog has it. */
type StoredRecord = Omit<ShownControl, 'edition' | keyof Assessment> & { assessment?: StoredAssessment };

/** Single controls, and the enhancements of one. */
export function createControlRecords(
  db: Database,
  controlVersions: ControlVersions,
  assessments: ControlAssessments,
) {
  const find = createFind(db, controlVersions);
  const { identifier: key, title } = controls;
  const isEnhancement = and(gte(key, sql.placeholder('from')), lt(key, sql.placeholder('to')));
  const withEnhancements = db.orm
    .select({ identifier: key, title })
    .from(controls)
    .where(
      and(
        eq(controls.framework, 'nist-800-53'),
        eq(controls.version, version),
        eq(controls.status, 'active'),
        or(eq(key, sql.placeholder('base')), isEnhancement),
      ),
    )
    .orderBy(asc(controls.ordinal))
    .prepare();

  const isActive = and(
    eq(controls.framework, framework),
    eq(controls.version, version),
    eq(controls.status, 'active'),
  );
  const own = sql`(select ${controls.ordinal} from ${controls} where ${and(
    eq(controls.framework, framework),
    eq(controls.version, version),
    eq(key, identifier),
  )})`;
  const nearest = (side: 'before' | 'after') =>
    db.orm
      .select({ identifier: key })
      .from(controls)
      .where(and(isActive, side === 'before' ? lt(controls.ordinal, own) : gt(controls.ordinal, own)))
      .orderBy(side === 'before' ? desc(controls.ordinal) : asc(controls.ordinal))
      .limit(1)
      .prepare();
  const [before, after] = [nearest('before'), nearest('after')];

  function one(framework: string, controlId: string, wanted?: string): ShownControl {
    const { recordJson, edition } = find(framework, controlId, wanted);
    const { assessment, ...record } = JSON.parse(recordJson) as StoredRecord;
    return { ...record, edition, ...assessments.assessmentOf(record, assessment) };
  }

  return {
    /** One control as JSON text, by id or identifier (D6.1), with the edition of its version (rule D6.5). Throws NOT_FOUND. */
    record(framework: string, controlId: string, wanted: string | undefined): JsonText<never> {
      return JSON.stringify(one(framework, controlId, wanted)) as JsonText<never>;
    },

    /** The same control as a row. Throws NOT_FOUND. */
    one,

    /** The active controls before and after one in the order of its version; null at the ends. */
    neighbors: ({
      framework,
      version,
      identifier,
    }: Pick<ShownControl, 'framework' | 'version' | 'identifier'>) =>
      db.read(() => {
        const of = { framework, version, identifier };
        return { before: before.get(of)?.identifier ?? null, after: after.get(of)?.identifier ?? null };
      }),

    /** A base control of 800-53 and its active enhancements, in catalog order. */
    enhancements(identifier: string, wanted: string | undefined): { identifier: string; title: string }[] {
      return db.read(() => {
        const [base] = identifier.split('(', 1) as [string];
        const version = controlVersions.versionOf('nist-800-53', wanted) ?? '';
        return withEnhancements.all({ version, base, from: `${base}(`, to: `${base})` });
      });
    },
  };
}
