import { fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import type { StigList } from '../stigs/schema.ts';
import { createNameMatcher, type NameMatcher, readName, type StigNames } from './stig-matcher.ts';

type Stig = Pick<StigList['stigs'][number], 'slug' | 'title' | 'version'>;

interface Row extends Stig {
  kind: StigNames['kind'];
  titleFold: string;
  benchmarkId: string;
  /** Former slugs and benchmark ids, as a JSON array. */
  others: string;
}

export type StigFinder = ReturnType<typeof createStigFinder>;

/**
 * Finds STIGs by what people call them (rule S4.1). The names are those that the publisher gave: titles, slugs, benchmark
 * ids, present and former; they are read once for each generation of the catalog.
 */
export function createStigFinder(db: Database) {
  const rows = db.sqlite.prepare<[], Row>(
    `SELECT s.slug, s.title, r.version, s.kind, s.title_fold AS titleFold, r.benchmark_id AS benchmarkId,
            (SELECT json_group_array(name) FROM (
               SELECT alias AS name FROM stig_aliases WHERE stig_id = s.id
               UNION SELECT benchmark_id FROM stig_releases WHERE stig_id = s.id)) AS others
       FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id
      ORDER BY s.title_fold, s.title, s.slug`,
  );
  let made: { generation: number; stigs: { stig: Stig; titleFold: string; match: NameMatcher }[] } | null =
    null;

  function all() {
    const generation = db.generation();
    if (made?.generation !== generation) {
      const stigs = rows.all().map(({ kind, titleFold, benchmarkId, others, ...stig }) => {
        const present = [stig.title, stig.slug, benchmarkId];
        const former = (JSON.parse(others) as string[]).filter((name) => !present.includes(name));
        return { stig, titleFold, match: createNameMatcher({ kind, present, former }) };
      });
      made = { generation, stigs };
    }
    return made.stigs;
  }

  /** The STIGs that a text names, the best first; equally good ones stay in the order of titles. */
  function named(text: string): Stig[] {
    const asked = readName(text);
    if (asked === null) return [];
    return db.read(() =>
      all()
        .map(({ stig, match }) => ({ stig, rank: match(asked) }))
        .filter((each): each is { stig: Stig; rank: number } => each.rank !== null)
        .sort((a, b) => a.rank - b.rank)
        .map(({ stig }) => stig),
    );
  }

  return {
    named,

    /** Their slugs; those of STIGs whose title or slug has the text literally follow, by title. */
    called(text: string): string[] {
      return db.read(() => {
        const wanted = fold(text);
        const literal = all().filter(
          ({ stig, titleFold }) => titleFold.includes(wanted) || stig.slug.includes(wanted),
        );
        return [...new Set([...named(text), ...literal.map(({ stig }) => stig)].map(({ slug }) => slug))];
      });
    },
  };
}
