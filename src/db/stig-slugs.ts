import type { Database } from './database.ts';

/** Finds the slug that a slug, a former one or a benchmark id leads to (rule D24.2); what leads nowhere is given back. */
export function createSlugOf({ sqlite }: Database): (name: string) => string {
  const served = sqlite.prepare<[string], string>('SELECT slug FROM stigs WHERE slug = ?').pluck();
  const ofAlias = sqlite
    .prepare<[string], string>(
      'SELECT s.slug FROM stig_aliases AS a JOIN stigs AS s ON s.id = a.stig_id WHERE a.alias = ?',
    )
    .pluck();
  return (name) => served.get(name) ?? ofAlias.get(name.toLowerCase()) ?? name;
}
