import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { createSlugOf } from '../../db/stig-slugs.ts';

/** A STIG by its slug, with its title. */
export interface StigTitle {
  slug: string;
  title: string;
}

interface Row extends StigTitle {
  kind: 'stig' | 'srg';
  /** What it is or was called, as a JSON array. */
  names: string;
}

const kinds = /_(?:stig|srg|security_technical_implementation_guide|security_requirements_guide)$/;
const requirements = /(?:srg|security_requirements_guide)$/;

/** Characters that no name of a STIG has. */
const longestName = 1000;

/** A name in the form in which it is compared: without a release, a file's ending and the word for what it is. */
function formOf(name: string): { form: string; kind: 'stig' | 'srg' | null } {
  if (name.length > longestName) return { form: '', kind: null };
  const words = fold(name)
    .replaceAll('&', ' and ')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/_(?:manual_xccdf|xccdf|manual)?(?:_(?:xml|zip))?$/, '')
    .replace(/^u_(?=.)/, '')
    .replace(/_v(?:er(?:sion)?)?_?\d+_?r(?:el(?:ease)?)?_?\d+(?:_.*)?$/, '');
  const [ending] = kinds.exec(words) ?? [];
  const kind = ending === undefined ? null : requirements.test(ending) ? 'srg' : 'stig';
  let form = words;
  while (kinds.test(form)) form = form.replace(kinds, '');
  return { form, kind };
}

/**
 * Finds the STIGs that a name is that of, in full: a slug, present or former (rule D24.2), a benchmark id, a title, a file's
 * name, with or without its release. Several where it is that of several; none where it is that of none.
 */
export function createStigsCalled(db: Database): (name: string) => StigTitle[] {
  const slugOf = createSlugOf(db);
  const rows = db.sqlite.prepare<[], Row>(
    // Each table is read once: no index leads from a STIG to all its printings.
    `SELECT s.slug, s.title, s.kind, coalesce(n.names, '[]') AS names
       FROM stigs AS s LEFT JOIN (SELECT stig_id, json_group_array(name) AS names FROM (
              SELECT stig_id, alias AS name FROM stig_aliases
              UNION SELECT stig_id, benchmark_id FROM stig_printings
              UNION SELECT stig_id, title FROM stig_printings) GROUP BY stig_id) AS n ON n.stig_id = s.id
      ORDER BY s.title_fold, s.title, s.slug`,
  );
  let made: { generation: number; bySlug: Map<string, Row>; byForm: Map<string, Row[]> } | null = null;

  function all() {
    const generation = db.generation();
    if (made?.generation === generation) return made;
    const bySlug = new Map<string, Row>();
    const byForm = new Map<string, Row[]>();
    for (const row of rows.all()) {
      bySlug.set(row.slug, row);
      const names = [row.slug, ...(JSON.parse(row.names) as string[])];
      for (const form of new Set(names.map((each) => formOf(each).form))) {
        const known = byForm.get(form);
        if (known) known.push(row);
        else byForm.set(form, [row]);
      }
    }
    made = { generation, bySlug, byForm };
    return made;
  }

  return (name) =>
    db.read(() => {
      const { bySlug, byForm } = all();
      const exact = bySlug.get(slugOf(name.trim()));
      if (exact) return [exact];
      const { form, kind } = formOf(name);
      const found = form === '' ? [] : (byForm.get(form) ?? []);
      const ofKind = found.filter((row) => row.kind === kind);
      return (ofKind.length > 0 ? ofKind : found).map(({ slug, title }) => ({ slug, title }));
    });
}
