import type { FoundId } from '../catalog/controls/id-grammar.ts';
import type { Database } from '../db/database.ts';
import { perCatalogVersion } from '../db/per-catalog-version.ts';

/** How ids of this catalog begin: what tells an invented id from another word. */
export interface Vocabulary {
  /** Of STIG ids, with the lengths of what follows. */
  beginnings: Map<string, { shortest: number; longest: number }>;
  /** Of controls. */
  letters: Set<string>;
}

const idsPerRead = 2000;

/** A STIG id up to its last hyphen or blank, else up to its first digit; and the length of the rest. */
export function beginningOf(id: string): { beginning: string; length: number } {
  const joint = Math.max(id.lastIndexOf('-'), id.lastIndexOf(' '));
  const end = joint >= 0 ? joint + 1 : Math.max(id.search(/\d/), 0);
  return { beginning: id.slice(0, end), length: id.length - end };
}

/** What an unknown control must share with known ones: of 800-53 the family, of 8500 the four letters. */
export const lettersOf = ({ framework, id }: Pick<FoundId, 'framework' | 'id'>) =>
  `${framework} ${id.slice(0, id.lastIndexOf(framework === 'nist-800-171' ? '.' : '-'))}`;

/** Prepares the vocabulary of the catalog, once for each version. */
export function createVocabulary(db: Database): () => Vocabulary {
  const after = db.sqlite
    .prepare<[string, number], string>('SELECT DISTINCT id FROM rule_ids WHERE id > ? ORDER BY id LIMIT ?')
    .pluck();
  const controls = db.sqlite.prepare<[], { framework: 'nist-800-53'; id: string }>(
    `SELECT framework, identifier AS id FROM control_keys
      WHERE framework IN ('nist-800-53', 'nist-800-171', 'dod-8500')`,
  );

  function read(): Vocabulary {
    const beginnings: Vocabulary['beginnings'] = new Map();
    let last = '';
    for (;;) {
      // V- and SV-numbers need no vocabulary, and are most of the ids.
      if (/^S?V-\d/.test(last)) last = last.startsWith('V') ? 'V-:' : 'SV-:';
      const ids = after.all(last, idsPerRead);
      if (ids.length === 0) break;
      last = ids.at(-1)!;
      for (const each of ids) {
        if (/^(?:S?V-\d|SRG-)/.test(each)) continue;
        const { beginning, length } = beginningOf(each.split(' - ')[0]!);
        const known = beginnings.get(beginning) ?? { shortest: length, longest: length };
        known.shortest = Math.min(known.shortest, length);
        known.longest = Math.max(known.longest, length);
        if (/[A-Z]/.test(beginning)) beginnings.set(beginning, known);
      }
    }
    return { beginnings, letters: new Set(controls.all().map(lettersOf)) };
  }

  return perCatalogVersion(db, read);
}
