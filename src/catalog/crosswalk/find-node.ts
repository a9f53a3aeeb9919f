import { eq } from 'drizzle-orm';
import { AppError, badRequest, notThere } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { ruleCcis } from '../../db/tables.ts';
import { createFindControl } from '../controls/find-control.ts';
import { requireFramework } from '../controls/frameworks.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import type { CrosswalkService } from './queries.ts';

/**
 * Gives a function that finds a control of a catalog, a CCI of the newest list or of a rule, or a control of a site's
 * own framework. Throws NOT_FOUND.
 */
export function createFindNode(db: Database, crosswalk: CrosswalkService) {
  const findControl = createFindControl(db);
  const hasControls = db.sqlite.prepare<[string]>(
    'SELECT 1 FROM framework_versions WHERE framework = ? LIMIT 1',
  );
  const isCited = (cci: string) =>
    db.orm.select().from(ruleCcis).where(eq(ruleCcis.cci, cci)).limit(1).get() !== undefined;
  return (framework: string, controlId: string) => {
    const known = findControl(framework, controlId);
    if (known) return { framework, identifier: known.identifier, title: known.title };
    const identifier = crosswalk.canonical(framework, controlId);
    const isNode =
      canonicalIdentifier(framework, controlId) !== null &&
      (crosswalk.graph().idOf(framework, identifier) !== undefined ||
        (framework === 'cci' && isCited(identifier)));
    if (!isNode) requireFramework(framework, hasControls.get(framework) !== undefined);
    if (!isNode) throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}`);
    return { framework, identifier, title: '' };
  };
}

const filters = {
  cci: { framework: 'cci', noun: 'CCI', form: 'a CCI such as CCI-000366' },
  control: { framework: 'nist-800-53', noun: 'Control', form: 'a control of nist-800-53 such as AC-2(1)' },
};

/** Gives a function for the identifier that a filter names. It throws 400 for no identifier, 404 for none here (D35.3). */
export function createFilterNode(db: Database, crosswalk: CrosswalkService) {
  const find = createFindNode(db, crosswalk);
  return (field: keyof typeof filters, text: string): string => {
    const { framework, noun, form } = filters[field];
    if (canonicalIdentifier(framework, text) === null) throw badRequest(`${field} must be ${form}`, field);
    try {
      return find(framework, text).identifier;
    } catch (error) {
      throw error instanceof AppError && error.code === 'NOT_FOUND'
        ? notThere(field, `${noun} not found: ${cut(text)}`)
        : error;
    }
  };
}
