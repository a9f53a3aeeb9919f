import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { sortKey } from '../controls/identifier.ts';
import type { ControlService } from '../controls/queries.ts';
import { type CrosswalkService, cciQuestion } from './queries.ts';

const target = cciQuestion.to;

/** Every CCI, and the statement, else the title, of each control of one revision. */
interface Looked {
  ccis: Map<string, { definition: string; controls: string[] }>;
  texts: Map<string, string>;
}

/**
 * Gives a function that looks up CCIs (`CCI-000366`). For each known one it gives the definition and the controls of
 * 800-53, by rule D7.5, or by rule D7.4 for an older revision; for these controls, in catalog order, the statement,
 * else the title. Throws NOT_FOUND for a revision that is not imported.
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
  const lookups = perGeneration(db, () => new Map<string | null, Looked>());

  function statedFor(revision: string): Map<string, string[]> {
    const ccisOf = crosswalk.statedEnds(target, 'cci', revision);
    const controlsOf = new Map<string, string[]>();
    for (const control of inCatalogOrder(everyControl.all(target))) {
      for (const cci of ccisOf(control)) {
        const known = controlsOf.get(cci);
        if (known) known.push(control);
        else controlsOf.set(cci, [control]);
      }
    }
    return controlsOf;
  }

  function lookUp(revision: string | null): Looked {
    const stated = controls.hasOwnReferences(target, revision) ? statedFor(revision!) : null;
    const ccis: Looked['ccis'] = new Map();
    for (const [identifier, definition] of textsOf.all('cci', controls.versionOf('cci', undefined))) {
      const found = stated
        ? (stated.get(identifier) ?? [])
        : crosswalk.endsOf({ ...cciQuestion, identifier });
      ccis.set(identifier, { definition, controls: found });
    }
    const texts = textsOf.all(target, revision).map(([identifier, statement, title]) => {
      return [identifier, statement || title] as const;
    });
    return { ccis, texts: new Map(texts) };
  }

  /** Looks up a revision once for each generation. */
  function looked(wanted: string | undefined): Looked {
    const revisions = lookups();
    const revision = controls.versionOf(target, wanted, '/revision');
    const known = revisions.get(revision);
    if (known) return known;
    const made = lookUp(revision);
    revisions.set(revision, made);
    return made;
  }

  return (ccis: string[], revision?: string) =>
    db.read(() => {
      const all = looked(revision);
      const found: Looked['ccis'] = new Map();
      for (const cci of ccis) if (all.ccis.has(cci)) found.set(cci, all.ccis.get(cci)!);
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
