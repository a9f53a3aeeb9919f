import type { FoundId } from '../catalog/controls/id-grammar.ts';
import type { Database } from '../db/database.ts';
import type { ReferenceFact } from './reference-schema.ts';

const nothing = { title: null, slug: null, version: null, advice: null };

/** Prepares the look-up of controls, CCIs and SRG ids. What is in no source is told first: the rest takes longer. */
export function createControlFacts({ sqlite }: Database) {
  const isControl = sqlite
    .prepare<[string, string], number>('SELECT 1 FROM control_keys WHERE framework = ? AND identifier = ?')
    .pluck();
  const isNamed = sqlite
    .prepare<[string, string, string], number>(
      `SELECT EXISTS (SELECT 1 FROM findings WHERE group_title >= ? AND group_title < ? || '.')
           OR EXISTS (SELECT 1 FROM findings WHERE rule_version = ?)`,
    )
    .pluck();
  const control = sqlite.prepare<
    [string, string],
    { status: string; title: string; statement: string; into: string; version: string; isServed: number }
  >(
    `SELECT c.status, c.title, c.statement,
            c.withdrawn_into AS "into", c.version, v.is_default AS isServed
       FROM control_keys AS k JOIN controls AS c ON c.control_id = k.id AND c.framework = k.framework
       JOIN framework_versions AS v ON v.framework = c.framework AND v.version = c.version
      WHERE k.framework = ? AND k.identifier = ?
      ORDER BY v.is_default DESC, v.is_newest DESC, v.version DESC LIMIT 1`,
  );
  // An id without its ending stands for several requirements, and then has no title.
  const named = (column: 'group_title' | 'rule_version', condition: string) =>
    `SELECT max(r.id = s.current_release_id) AS isCurrent,
            CASE WHEN count(DISTINCT CASE s.kind WHEN 'srg' THEN f.rule_version END) = 1
              THEN max(CASE s.kind WHEN 'srg' THEN f.rule_title END) END AS title
       FROM findings AS f JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id
      WHERE f.${column} ${condition}`;
  type Named = { isCurrent: number | null; title: string | null };
  const whole = [named('group_title', '= ?'), named('rule_version', '= ?')].map((text) =>
    sqlite.prepare<[string], Named>(text),
  );
  const begun = sqlite.prepare<[string, string], Named>(
    named('group_title', ">= ? || '-' AND f.group_title < ? || '.'"),
  );

  function srg(id: string): ReferenceFact {
    if (!isNamed.get(id, id, id)) return { ...nothing, kind: 'srg', state: 'unknown', id };
    const found = whole.map((each) => each.get(id)!);
    if (/^SRG-[A-Z]+-\d+$/.test(id)) found.push({ ...begun.get(id, id)!, title: null });
    const isCurrent = found.some((each) => each.isCurrent === 1);
    const isKnown = found.some((each) => each.isCurrent !== null);
    const title = found.find((each) => each.title !== null)?.title ?? null;
    const state = isCurrent ? 'current' : isKnown ? 'removed' : 'unknown';
    const advice = state === 'removed' ? 'Only rules of older releases name it' : null;
    return { ...nothing, kind: 'srg', state, id, title, advice };
  }

  return ({ kind, framework, id }: FoundId): ReferenceFact => {
    if (kind === 'srg') return srg(id);
    const ofKind = kind === 'cci' ? 'cci' : 'control';
    const isThere = isControl.get(framework ?? 'cci', id) !== undefined;
    const row = isThere ? control.get(framework ?? 'cci', id) : undefined;
    if (!row) return { ...nothing, kind: ofKind, state: 'unknown', id };
    const fact = { ...nothing, kind: ofKind, id, title: row.title || row.statement.slice(0, 200) } as const;
    if (ofKind === 'cci') return { ...fact, state: row.status === 'withdrawn' ? 'deprecated' : 'current' };
    const into = JSON.parse(row.into) as string[];
    if (row.status === 'withdrawn')
      return { ...fact, state: 'withdrawn', advice: into.length > 0 ? `Now in ${into.join(', ')}` : null };
    // The revisions of 800-171 name different controls.
    if (row.isServed || framework === 'nist-800-171') return { ...fact, state: 'current' };
    return { ...fact, state: 'withdrawn', advice: `Only in ${row.version}` };
  };
}
