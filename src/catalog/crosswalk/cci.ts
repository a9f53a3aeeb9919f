import { AppError, badRequest, notThere } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { createControlLookup } from '../controls/find-control.ts';
import { cciRevisions, requireFramework, versionKey } from '../controls/frameworks.ts';
import { canonicalIdentifier, oscalId, sortKey } from '../controls/identifier.ts';
import { catalogResource } from '../controls/oscal.ts';
import { createControlVersions } from '../controls/versions.ts';
import type { AddressedControls } from '../stigs/component.ts';
import type { RulesQuery } from './control-rules-schema.ts';
import { createFacts } from './facts.ts';
import type { GraphNode, MappingStatus } from './graph.ts';
import { type CrosswalkService, cciQuestion, closureDepth, defaultStatuses } from './queries.ts';
import type { Path } from './schema.ts';

const target = cciQuestion.to;

/** A CCI of a rule with its controls. */
export interface ChainedCci {
  cci: string;
  isDeprecated: boolean;
  controls: { identifier: string; title: string; status: MappingStatus; related: string[] }[];
}

/** A control of a catalog, a CCI, or a control of a site's own framework. */
interface FoundNode extends GraphNode {
  title: string;
}

const filters = {
  cci: { framework: 'cci', noun: 'CCI', form: 'a CCI such as CCI-000366' },
  control: { framework: target, noun: 'Control', form: 'a control of nist-800-53 such as AC-2(1)' },
};

export type CciService = ReturnType<typeof createCciService>;

/** What CCIs stand for: their controls of 800-53 (rule D7.5), and the CCIs of controls. */
export function createCciService(db: Database, crosswalk: CrosswalkService) {
  const { sqlite } = db;
  const { versionOf, hasOwnReferences, imported } = createControlVersions(db);
  const facts = createFacts(db);
  const { findControls, ownControl } = createControlLookup(db);
  const findControl = (framework: string, controlId: string) => findControls([{ framework, controlId }])[0]!;
  const everyControl = sqlite
    .prepare<[], string>(
      `SELECT identifier FROM control_keys WHERE framework = '${target}' ORDER BY sort_key`,
    )
    .pluck();
  const texts = sqlite
    .prepare<[version: string | null, framework: string, identifiers: string], [string, text: string]>(
      `SELECT k.identifier, coalesce(nullif(c.statement, ''), c.title, '')
         FROM control_keys AS k
         LEFT JOIN controls AS c ON c.framework = k.framework AND c.version = ? AND c.identifier = k.identifier
        WHERE k.framework = ? AND k.identifier IN (SELECT value FROM json_each(?))
        ORDER BY k.sort_key`,
    )
    .raw();
  const cited = sqlite.prepare<[], string>('SELECT DISTINCT cci FROM rule_ccis ORDER BY cci').pluck();
  const isCited = sqlite.prepare<[string]>('SELECT 1 FROM rule_ccis WHERE cci = ? LIMIT 1');

  const endsOf = (identifier: string) => crosswalk.endsOf({ ...cciQuestion, identifier });
  const canonical = (cci: string) => crosswalk.canonical('cci', cci);

  /** The CCIs that the newest list has as deprecated. */
  const deprecated = (ccis: readonly string[]): string[] =>
    ccis.filter((identifier) => {
      const cci = facts.control({ framework: 'cci', identifier });
      return cci?.isNewest === 1 && cci.status === 'withdrawn';
    });

  /** By revision, the controls of 800-53 by the CCIs that an older revision states for them. */
  const statedBy = perCatalogVersion(db, () => new Map<string, Map<string, string[]>>());

  function statedControls(version: string): Map<string, string[]> {
    const cache = statedBy();
    const question = { framework: target, to: 'cci', version, statuses: defaultStatuses, maxHops: 1 };
    const stated =
      cache.get(version) ??
      inverted(everyControl.all(), (identifier) => crosswalk.endsOf({ ...question, identifier }));
    cache.set(version, stated);
    return stated;
  }

  /**
   * Gives a function from a CCI to some controls of a revision in their order: by rule D7.5, by rule D7.4 for a revision
   * with references of its own, or by the paths of the controls of another framework.
   */
  function controlsIn(framework: string, revision: string | null, identifiers: Iterable<string> = []) {
    if (framework === 'cci') return (cci: string) => [cci];
    if (framework === target && !hasOwnReferences(target, revision)) return endsOf;
    const byCci =
      framework === target
        ? statedControls(revision!)
        : inverted(identifiers, (identifier) => pathsToCcis({ framework, identifier }).paths.keys());
    return (cci: string) => byCci.get(cci) ?? [];
  }

  const ccisByControl = perCatalogVersion(db, () => inverted(cited.all(), (cci) => endsOf(canonical(cci))));

  /**
   * A control of a catalog, a CCI of the newest list or of a rule, or a control of a site's own framework; null for one in
   * no source.
   */
  function findNode(framework: string, controlId: string): FoundNode | null {
    const known = findControl(framework, controlId);
    if (known) return { framework, identifier: known.identifier, title: known.title };
    if (canonicalIdentifier(framework, controlId) === null) return null;
    const identifier = crosswalk.canonical(framework, controlId);
    const isNode =
      crosswalk.graph().nodeOf({ framework, identifier }).neighbors.length > 0 ||
      (framework === 'cci' && isCited.get(identifier) !== undefined);
    return isNode ? { framework, identifier, title: '' } : null;
  }

  /**
   * The shortest paths from a control to each CCI that it reaches; a CCI reaches itself. Without `maxHops` only the nearest
   * CCIs count.
   */
  function pathsToCcis(
    { framework, identifier }: GraphNode,
    { status: statuses = defaultStatuses, maxHops }: Partial<Pick<RulesQuery, 'status' | 'maxHops'>> = {},
  ): { paths: Map<string, Path[]>; truncated: boolean } {
    if (framework === 'cci') {
      const itself: Path = { hops: 0, controls: [{ framework, identifier, status: 'auto' }] };
      return { paths: new Map([[identifier, [itself]]]), truncated: false };
    }
    const resolve = (hops: number) =>
      crosswalk.resolve({ framework, identifier, to: 'cci', statuses, maxHops: hops });
    // More hops than needed lead to the CCIs of neighbors. A control of 800-53 has CCIs of its own or none.
    const most = maxHops ?? (framework === target ? 1 : closureDepth);
    let hops = maxHops ?? 1;
    let found = resolve(hops);
    while (found.paths.length === 0 && hops < most) found = resolve(++hops);
    const byCci = Map.groupBy(found.paths, ({ controls }) => controls.at(-1)!.identifier);
    // The first of each is the shortest.
    for (const [cci, paths] of byCci)
      byCci.set(
        cci,
        paths.filter(({ hops }) => hops === paths[0]!.hops),
      );
    return { paths: byCci, truncated: found.truncated };
  }

  /** The identifier that a filter names. Throws 400 for no identifier, 404 for none here (rule D35.3). */
  function filtered(field: keyof typeof filters, text: string): string {
    const { framework, noun, form } = filters[field];
    if (canonicalIdentifier(framework, text) === null) throw badRequest(`${field} must be ${form}`, field);
    const node = findNode(framework, text);
    if (node === null) throw notThere(field, `${noun} not found: ${cut(text)}`);
    return node.identifier;
  }

  return {
    controlsIn,
    deprecated,
    filtered,
    pathsToCcis,
    ownControl,

    /** The same as `findNode`. Throws NOT_FOUND for a control in no source. */
    requireNode(framework: string, controlId: string): FoundNode {
      const node = findNode(framework, controlId);
      if (node !== null) return node;
      requireFramework(framework, imported().includes(framework));
      throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}`);
    },

    /** The CCIs that rules of current releases cite and that lead to a control of nist-800-53 (published form). */
    ccisOf: (control: string): string[] => ccisByControl().get(control) ?? [],

    /** The CCIs through which a control or CCI has rules, as `control-rules` goes; null for one in no source. */
    reached({ framework, id }: { framework: string | null; id: string }): string[] | null {
      const node = findNode(framework ?? 'cci', id);
      return node && [...pathsToCcis(node).paths.keys()];
    },

    /** Reads the CCI of a filter: its text, and its published form. Throws as `filtered`. */
    readFilter(given = ''): { text: string; canonical: string | undefined } {
      const text = given.trim();
      return { text, canonical: text === '' ? undefined : filtered('cci', text) };
    },

    /** The CCIs of a rule with their controls of 800-53, and the controls of 800-171 that map to these. */
    chain: (ccis: readonly string[]): ChainedCci[] =>
      db.read(() => {
        const question = { statuses: defaultStatuses, maxHops: 1 };
        return [...new Set(ccis)].map((cci) => {
          const source = { framework: 'cci', identifier: canonical(cci) };
          const { paths } = crosswalk.resolve({ ...source, to: target, ...question });
          const controls = paths.map((path) => {
            const { framework, identifier, status } = path.controls.at(-1)!;
            const title = findControl(framework, identifier)?.title ?? '';
            const related = crosswalk.endsOf({ framework, identifier, to: 'nist-800-171', ...question });
            return { identifier, title, status, related };
          });
          return { cci, isDeprecated: deprecated([source.identifier]).length > 0, controls };
        });
      }),

    /**
     * The definition and the controls of each known CCI (`CCI-000366`), by a revision of 800-53; for these controls, in
     * catalog order, the statement, else the title. Throws NOT_FOUND for a revision that is not imported.
     */
    facts(ccis: string[], requested?: string) {
      const revision = versionOf(target, requested, '/revision');
      const controlsOf = controlsIn(target, revision);
      const known = texts
        .all(versionOf('cci', undefined), 'cci', JSON.stringify(ccis))
        .map(([cci, definition]) => [cci, { definition, controls: controlsOf(cci) }] as const);
      const named = JSON.stringify(known.flatMap(([, { controls }]) => controls));
      return { ccis: new Map(known), controls: new Map(texts.all(revision, target, named)) };
    },

    /** The controls of 800-53 that rules address through their CCIs. */
    addressed: ((ccis) => ({
      catalog: catalogResource(target, facts.newest(target)),
      cciList: facts.newest('cci'),
      controls: ccis.flatMap((cci) => {
        const source = { framework: 'cci', identifier: canonical(cci) };
        return endsOf(source.identifier).map((identifier) => {
          const evidence = facts.evidence(source, { framework: target, identifier });
          const carriedOver =
            evidence.length > 0 &&
            evidence.every(({ to }) => Number(versionKey(target, to.version)) === cciRevisions.carriedOver);
          return {
            cci,
            id: oscalId(target, identifier),
            order: sortKey(target, identifier),
            carriedOver,
          };
        });
      }),
    })) satisfies AddressedControls,
  };
}

/** The keys by what they lead to, in their order. */
function inverted(keys: Iterable<string>, leadsTo: (key: string) => Iterable<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const key of keys) for (const each of leadsTo(key)) found.set(each, [...(found.get(each) ?? []), key]);
  return found;
}
