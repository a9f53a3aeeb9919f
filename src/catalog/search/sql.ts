// The parts of the statements of the search; `createBinder` gives their parameters.

/** Of title, discussion, check, fix and ids. */
export const weights = [10, 2, 1, 1, 4];
/** Of the second reading: ids count nothing, as a person's words are none (measured by `bench search`). */
const widerWeights = [5, 1, 1, 1, 0];

const isWanted = `
       (:slugs IS NULL OR s.slug IN (SELECT value FROM json_each(:slugs)))
   AND (:among IS NULL OR s.slug IN (SELECT value FROM json_each(:among)))
   AND (:cci IS NULL OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci = :cci))
   AND (:ccis IS NULL OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(:ccis))))
   AND (:reached IS NULL OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(:reached))))
   AND (:excluded IS NULL OR f.id NOT IN (SELECT rowid FROM rule_search WHERE rule_search MATCH :excluded))
   AND (:severities IS NULL OR f.severity IN (SELECT value FROM json_each(:severities)))`;
const joined = `
 CROSS JOIN stig_releases AS r ON r.id = f.release_id
 CROSS JOIN stigs AS s ON s.id = r.stig_id`;
// CROSS JOIN keeps the full-text index first: another order would ask it once for every rule.
export const matching = `
  FROM rule_search
 CROSS JOIN findings AS f ON f.id = rule_search.rowid${joined}
 WHERE rule_search MATCH :match AND ${isWanted}`;
/** Without a question: every rule of a current release. */
export const every = `
  FROM stigs AS s
 CROSS JOIN stig_releases AS r ON r.id = s.current_release_id
 CROSS JOIN findings AS f ON f.release_id = r.id
 WHERE ${isWanted}`;
/** Some rules by their ids. */
export const these = `
  FROM json_each(:ids) AS id CROSS JOIN findings AS f ON f.id = id.value${joined}`;

/** The orders of rule S4.2; only a question has a relevance. */
const byStig = 's.title_fold, s.title, s.slug, f.ordinal';
export const orders = {
  stig: byStig,
  severity: `CASE f.severity WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, ${byStig}`,
  id: "CAST(substr(f.group_id, instr(f.group_id, '-') + 1) AS INTEGER), f.group_id, s.slug, f.ordinal",
};
export const relevance = `bm25(rule_search, ${weights.join()}), s.slug, f.ordinal`;

/** Whether a rule has one of some ids; an SV-id without its revision matches any revision. */
const isCalled = (ids: ':ids' | ':unrevised') => `EXISTS (SELECT 1 FROM json_each(${ids}) AS id
   WHERE id.value IN (lower(f.group_id), lower(f.rule_id), lower(f.rule_version))
      OR substr(lower(f.rule_id), 1, length(id.value) + 1) = id.value || 'r'
      OR id.value IN (SELECT lower(value) FROM json_each(f.legacy_ids))
      OR id.value IN (SELECT lower(value) FROM json_each(f.ccis)))`;

/** The same, behind the rules that have the id that is asked for, then those that have it in another revision. */
export const idFirst = `${isCalled(':ids')} DESC, ${isCalled(':unrevised')} DESC, ${relevance}`;

/** The first by relevance of the rules that match, without filters: the index alone sorts. */
export const bestIds = `
  SELECT f.id, best.score
    FROM (SELECT rowid AS id, rank AS score FROM rule_search
           WHERE rule_search MATCH :match AND rank MATCH 'bm25(${weights.join()})' ORDER BY rank LIMIT :limit) AS best
   CROSS JOIN findings AS f ON f.id = best.id${joined}
   ORDER BY best.score, s.slug, f.ordinal`;

const scored = 's.slug, f.ordinal, f.group_title AS requirement';
/** The best of the rules that match, of `:from` to `:to`; among all that are wanted. */
export const bestWanted = `
  SELECT f.id, ${scored}, bm25(rule_search, ${widerWeights.join()}) AS score ${matching}
     AND rule_search.rowid BETWEEN :from AND :to ORDER BY score, s.slug, f.ordinal LIMIT :limit`;
/** The same without filters: the index alone sorts, and only the best are joined. */
export const bestOfAll = `
  SELECT f.id, ${scored}, best.score
    FROM (SELECT rowid AS id, rank AS score FROM rule_search
           WHERE rule_search MATCH :match AND rank MATCH 'bm25(${widerWeights.join()})' ORDER BY rank LIMIT :limit) AS best
   CROSS JOIN findings AS f ON f.id = best.id${joined}
   ORDER BY best.score, s.slug, f.ordinal`;
