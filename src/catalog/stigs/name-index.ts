import { basename } from 'node:path';
import { notThere } from '../../base/errors.ts';
import { pick } from '../../base/objects.ts';
import { compareCodePoints, cut, fold, strip } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { createNameMatcher, readName } from './name-match.ts';

/** A STIG that a text names. */
export interface StigByName {
  slug: string;
  title: string;
  version: string;
  benchmarkId: string;
  /** The release that the text names (`V2R8`), in the catalog or not; null where it names none. */
  release: string | null;
}

/** A STIG with all its names, former ones too, and the files of its releases. */
interface IndexedStig
  extends Omit<StigByName, 'release'>,
    Record<'aliases' | 'benchmarkIds' | 'titles' | 'files', string[]> {
  kind: 'stig' | 'srg';
  titleFold: string;
  /** The kind, and the title without its numbers: years and versions are what differs between the STIGs of one product. */
  product: string;
}

const longestName = 1000;

const kinds = /_(?:stig|srg|security_technical_implementation_guide|security_requirements_guide)$/;
const requirements = /(?:srg|security_requirements_guide)$/;
/** A draft is `R0.1`. */
const releaseAtEnd = /_v(?:er(?:sion)?)?_?(\d+)_?r(?:el(?:ease)?)?_?(0_\d+|\d+)(?:_.*)?$/;
/** `RHEL_9_STIG 2 7`: two numbers are a release after the word for the kind alone (rule D36.3). */
const numbersAtEnd = /(?<=_(?:stig|srg|implementation_guide|requirements_guide))_(\d+)_(\d+)$/;
/** What names of files and of benchmarks in results begin with. */
const prefixes = /^(?:u|xccdf_.*_benchmark)_(?=.)/;

/** A name for comparison: without its release, the ending of a file and the word for its kind; and release and kind. */
export function formOf(text: string): { form: string; kind: 'stig' | 'srg' | null; release: string | null } {
  if (text.length > longestName) return { form: '', kind: null, release: null };
  const words = strip(
    fold(text.normalize('NFKC'))
      .replaceAll('&', ' and ')
      .replace(/[^a-z0-9]+/g, '_'),
    /_/,
  )
    .replace(/(?:_manual)?(?:_xccdf)?(?:_(?:xml|zip))?$/, '')
    .replace(prefixes, '');
  const [ending, version, release] = releaseAtEnd.exec(words) ?? numbersAtEnd.exec(words) ?? [];
  let form = ending === undefined ? words : words.slice(0, -ending.length);
  const [kind] = kinds.exec(form) ?? [];
  while (kinds.test(form)) form = form.replace(kinds, '');
  return {
    form,
    kind: kind === undefined ? null : requirements.test(kind) ? 'srg' : 'stig',
    release:
      version === undefined ? null : `V${Number(version)}R${release!.split('_').map(Number).join('.')}`,
  };
}

/** A release inside a text that is no name of a file, and what else such a name may have after it. */
const releaseWithin =
  /[^a-z0-9]v(?:er(?:sion)?)?[\W_]*\d+[\W_]*r(?:el(?:ease)?)?[\W_]*(?:0[._-]\d+|\d+)(?![a-z0-9])/gi;
const fileWords = /^(?:[\W_]|manual|xccdf|stig|srg|i?draft|benchmark|date:|\d{1,2} [a-z]{3,9} \d{4})*$/i;

/** A text up to its first release, and what follows each, without what only belongs to a name. */
export function splitAtReleases(text: string): string[] {
  if (/\.(?:xml|zip)$/i.test(text)) return [text];
  const ends = [...text.matchAll(releaseWithin)].map((found) => found.index + found[0].length);
  const [head, ...rest] = [0, ...ends].map((start, index) => text.slice(start, ends[index]));
  return [head!, ...rest.filter((words) => !fileWords.test(words))];
}

export type LaterStig = Pick<StigByName, 'slug' | 'title'>;

const numbers = /\d+/g;

function compareNumbers(a: IndexedStig, b: IndexedStig): number {
  const [ofA, ofB] = [a, b].map(({ title }) => title.match(numbers) ?? []);
  const at = ofA!.findIndex((number, index) => Number(number) !== Number(ofB![index]));
  return at < 0 ? 0 : Number(ofA![at]) - Number(ofB![at]);
}

const answerOf = (stig: IndexedStig, release: string | null = null): StigByName => ({
  ...pick(stig, 'slug', 'title', 'version', 'benchmarkId'),
  release,
});

export type StigNameIndex = ReturnType<typeof createStigNameIndex>;

/** Finds STIGs by their names, which it reads once for each state of the catalog. */
export function createStigNameIndex(db: Database) {
  const everyStig = db.sqlite
    .prepare<[], string>(
      `SELECT json_object('slug', s.slug, 'title', s.title, 'version', r.version, 'kind', s.kind, 'titleFold', s.title_fold,
                'benchmarkId', r.benchmark_id, 'benchmarkIds', json_group_array(DISTINCT p.benchmark_id),
                'titles', json_group_array(DISTINCT p.title), 'files', json_group_array(DISTINCT f.source),
                'aliases', json((SELECT json_group_array(alias) FROM stig_aliases WHERE stig_id = s.id)))
         FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id
         JOIN stig_printings AS p ON p.stig_id = s.id JOIN sources AS f ON f.id = p.source_id
        GROUP BY s.id ORDER BY s.title_fold, s.title, s.slug`,
    )
    .pluck();
  const names = perCatalogVersion(db, () => indexOf(everyStig.all()));

  /** The STIG with a slug, a former one or a benchmark id; null for none. */
  function ofSlug(name: string): StigByName | null {
    const stig = names().bySlugOrAlias(name);
    return stig ? answerOf(stig) : null;
  }

  function exactly(text: string): StigByName[] {
    const { bySlugOrAlias, byForm } = names();
    const exact = bySlugOrAlias(text.trim());
    if (exact) return [answerOf(exact)];
    const { form, kind, release } = formOf(text);
    const [, slug = ''] = /^(\S+)\s+v\d+r[\d.]+$/i.exec(text.trim()) ?? [];
    const bySlug = release === null ? undefined : bySlugOrAlias(slug);
    if (bySlug) return [answerOf(bySlug, release)];
    const found = form === '' ? [] : (byForm().get(form) ?? []);
    const ofKind = found.filter((stig) => stig.kind === kind);
    return (ofKind.length > 0 ? ofKind : found).map((stig) => answerOf(stig, release));
  }

  function stigsNamedIn(text: string): StigByName[] {
    const asked = readName(text);
    if (asked === null) return [];
    const { release } = formOf(text);
    return names()
      .matchers()
      .map(({ stig, match }) => ({ stig, rank: match(asked) }))
      .filter(({ rank }) => rank !== null)
      .sort((a, b) => a.rank! - b.rank!)
      .map(({ stig }) => answerOf(stig, release));
  }

  return {
    /** The slug for a slug, a former one or a benchmark id (rule D24.2); an unknown name stays unchanged. */
    slugOf: (name: string): string => names().bySlugOrAlias(name)?.slug ?? name,

    /** The slugs for the names of a filter. Throws 404 for a name that no STIG has (rule D35.3). */
    filtered: (given: string[]): string[] =>
      given.map((name) => {
        const stig = ofSlug(name);
        if (stig === null) throw notThere('stig', `STIG not found: ${cut(name)}`);
        return stig.slug;
      }),

    ofSlug,

    /** The STIGs with one of some benchmark ids, in any case, each once, by slug. */
    ofBenchmarks(benchmarkIds: string[]): StigByName[] {
      const { byBenchmark } = names();
      const found = new Set(benchmarkIds.flatMap((id) => byBenchmark.get(fold(id)) ?? []));
      return [...found].sort((a, b) => compareCodePoints(a.slug, b.slug)).map((stig) => answerOf(stig));
    },

    /** The texts that are benchmark ids of a STIG, in any case. */
    namesOf(slug: string, texts: string[]): string[] {
      const own = names().bySlugOrAlias(slug)!.benchmarkIds.map(fold);
      return texts.filter((text) => own.includes(fold(text)));
    },

    /** The STIGs with a text as a whole name: slug, present or former (rule D24.2), benchmark id, title or file name. */
    exactly,

    /** As `exactly`; else the STIGs of whose files one has the name, whatever release it is of. */
    calledOrFile(text: string): StigByName[] {
      const folder = Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\'));
      const name = /\.(?:xml|zip)$/i.test(text) ? text.slice(folder + 1) : text;
      const found = exactly(name);
      const { form, release } = formOf(name);
      if (found.length > 0 || form === '') return found;
      return (names().byFile().get(form) ?? []).map((stig) => answerOf(stig, release));
    },

    /** The STIGs that people mean by a text (`win2025`, `rhel 9 V2R8`), the best first (rule S4.1), then by title. */
    stigsNamedIn,

    /**
     * The STIGs of the one product that a text names as `stigsNamedIn`: their titles differ in numbers alone. None where it names
     * several products, or an SRG.
     */
    ofOneProduct(text: string): StigByName[] {
      const stigs = stigsNamedIn(text);
      const [product, ...others] = new Set(stigs.map(({ slug }) => names().bySlugOrAlias(slug)!.product));
      return product?.startsWith('stig ') && others.length === 0 ? stigs : [];
    },

    /** The STIG whose title is the same but for greater numbers, the greatest of them; null for none. */
    laterByTitle(slug: string): LaterStig | null {
      const { bySlugOrAlias, stigs } = names();
      const stig = bySlugOrAlias(slug);
      const [last] = stigs
        .filter((each) => each.product === stig?.product && compareNumbers(each, stig) > 0)
        .sort(compareNumbers)
        .slice(-1);
      return last ? pick(last, 'slug', 'title') : null;
    },

    /** All STIGs, by title. */
    all: (): { slug: string; title: string }[] => names().stigs,

    /** The slugs of the STIGs that people mean by a text, and of those whose title or slug contains it. */
    listed(text: string): string[] {
      const folded = fold(text);
      const literal = names().stigs.filter(
        ({ slug, titleFold }) => titleFold.includes(folded) || slug.includes(folded),
      );
      return [...new Set([...stigsNamedIn(text), ...literal].map(({ slug }) => slug))];
    },
  };
}

/** The maps over some STIGs. Those that few requests need are made on demand. */
function indexOf(rows: string[]) {
  const stigs = rows.map((row): IndexedStig => {
    const stig = JSON.parse(row);
    const title = stig.title.slice(0, longestName).replace(/\(.*?\)/g, '');
    return { ...stig, product: `${stig.kind} ${formOf(title).form.replace(numbers, '#')}` };
  });
  const bySlug = new Map(stigs.map((stig) => [stig.slug, stig]));
  const byAlias = grouped(stigs, ({ aliases }) => aliases);
  const byBenchmark = grouped(stigs, ({ benchmarkIds }) => benchmarkIds.map(fold));
  return {
    stigs,
    /** The STIG with a slug, a former one or a benchmark id, in any case (rule D35.4); of equals the slug counts. */
    bySlugOrAlias(name: string): IndexedStig | undefined {
      const key = fold(name);
      return bySlug.get(key) ?? byAlias.get(key)?.[0] ?? byBenchmark.get(key)?.[0];
    },
    byBenchmark,
    byForm: onDemand(() =>
      grouped(stigs, ({ slug, aliases, benchmarkIds, titles }) =>
        [slug, ...aliases, ...benchmarkIds, ...titles].map((name) => formOf(name).form),
      ),
    ),
    /** By the names of files that state a release, as the publisher's do. */
    byFile: onDemand(() =>
      grouped(stigs, ({ files }) =>
        files
          .map((file) => formOf(basename(file)))
          .filter(({ release }) => release !== null)
          .map(({ form }) => form),
      ),
    ),
    matchers: onDemand(() => stigs.map((stig) => ({ stig, match: createNameMatcher(stig) }))),
  };
}

function grouped(stigs: IndexedStig[], keysOf: (stig: IndexedStig) => string[]): Map<string, IndexedStig[]> {
  const groups = new Map<string, IndexedStig[]>();
  for (const stig of stigs)
    for (const key of new Set(keysOf(stig))) groups.set(key, [...(groups.get(key) ?? []), stig]);
  return groups;
}

/** Gives a function that computes a value at the first call, and returns the same afterwards. */
function onDemand<T>(compute: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= compute());
}
