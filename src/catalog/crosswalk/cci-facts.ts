import { runInSlices } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { inOneGeneration } from '../../db/one-generation.ts';
import { versionKey } from '../controls/frameworks.ts';
import { sortKey } from '../controls/identifier.ts';
import type { ControlService } from '../controls/queries.ts';
import { type CrosswalkService, closureDepth, defaultStatuses } from './queries.ts';

const target = 'nist-800-53';

/** Every CCI with its controls of one revision, and the statement, else the title, of each control. */
interface Looked {
  ccis: Map<string, { definition: string; controls: string[] }>;
  texts: Map<string, string>;
}

/**
 * Makes the question what some CCIs (`CCI-000366`) are: the definition and the controls of 800-53 of each that is known, by
 * the lookup of rule D7.5 or by the references of an older revision (rule D7.4); and of these controls, in catalog order, the
 * statement, else the title. All CCIs of a revision are looked up once for each generation.
 * Throws NOT_FOUND for a revision that is not imported.
 */
export function createCciFacts(db: Database, crosswalk: CrosswalkService, controls: ControlService) {
  const textsOf = db.sqlite
    .prepare<[string, string | null], [identifier: string, statement: string, title: string]>(
      'SELECT identifier, statement, title FROM controls WHERE framework = ? AND version = ?',
    )
    .raw();
  const everyControl = db.sqlite
    .prepare<[string], string>('SELECT identifier FROM control_keys WHERE framework = ?')
    .pluck();
  let made: { generation: number; revisions: Map<string | null, Promise<Looked>> } | null = null;

  /** The controls whose references by a revision name each CCI, in catalog order. */
  function* statedFor(revision: string): Generator<void, Map<string, string[]>> {
    const ccisOf = db.read(() => crosswalk.statedEnds(target, 'cci', revision));
    const controlsOf = new Map<string, string[]>();
    for (const control of inCatalogOrder(everyControl.all(target))) {
      for (const cci of ccisOf(control)) {
        const known = controlsOf.get(cci);
        if (known) known.push(control);
        else controlsOf.set(cci, [control]);
      }
      yield;
    }
    return controlsOf;
  }

  function* lookUp(revision: string | null, isOlder: boolean): Generator<void, Looked> {
    const question = { framework: 'cci', to: target, statuses: defaultStatuses, maxHops: closureDepth };
    const stated = isOlder ? yield* statedFor(revision!) : null;
    const ccis: Looked['ccis'] = new Map();
    for (const [identifier, definition] of textsOf.all('cci', controls.versionOf('cci', undefined))) {
      const found = stated ? (stated.get(identifier) ?? []) : crosswalk.endsOf({ ...question, identifier });
      ccis.set(identifier, { definition, controls: found });
      yield;
    }
    const texts = textsOf.all(target, revision).map(([identifier, statement, title]) => {
      return [identifier, statement || title] as const;
    });
    return { ccis, texts: new Map(texts) };
  }

  /** What was looked up for a revision in this state of the catalog, or will be: the first who ask wait for it. */
  function looked(wanted: string | undefined): Promise<Looked> {
    const generation = db.generation();
    if (made?.generation !== generation) made = { generation, revisions: new Map() };
    const { revisions } = made;
    const served = controls.versionOf(target, undefined);
    const revision = wanted === undefined ? served : controls.versionOf(target, wanted);
    const known = revisions.get(revision);
    if (known) return known;
    const isOlder = revision !== served && versionKey(target, revision!) !== versionKey(target, served ?? '');
    const making = runInSlices(lookUp(revision, isOlder));
    revisions.set(revision, making);
    making.catch(() => revisions.delete(revision));
    return making;
  }

  return (ccis: string[], revision?: string) =>
    inOneGeneration(db, async () => {
      const all = await looked(revision);
      const found = new Map(
        ccis.flatMap((cci) => {
          const known = all.ccis.get(cci);
          return known ? [[cci, known] as const] : [];
        }),
      );
      const named = new Set([...found.values()].flatMap((each) => each.controls));
      const informed = inCatalogOrder([...named]).map((each) => [each, all.texts.get(each) ?? ''] as const);
      return { ccis: found, controls: new Map(informed) };
    });
}

function inCatalogOrder(identifiers: string[]): string[] {
  const keyed = identifiers.map((identifier) => ({ identifier, key: sortKey(target, identifier) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
  return keyed.map(({ identifier }) => identifier);
}
