import type { User, Viewer } from '../auth/viewer.ts';
import { badRequest, notFound } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { createBundleService } from './bundles.ts';
import {
  type ListEntry,
  type ListExport,
  type ListFinding,
  type ListStigs,
  type ListStigUpdate,
  maxPosition,
} from './lists-schema.ts';
import type { StigsAdded } from './schema.ts';

interface EntryRow {
  slug: string;
  title: string;
  version: string;
  status: string;
  status_date: string | null;
  finding_count: number;
  high: number;
  medium: number;
  low: number;
  added_at: string;
  notes: string;
  position: number;
  release_id: number | null;
}

interface FindingRow {
  group_id: string;
  rule_id: string;
  severity: 'high' | 'medium' | 'low';
  rule_title: string;
  vuln_discussion: string;
  fix_text: string;
  check_content: string;
  ccis: string;
}

type Severity = FindingRow['severity'];

/** How the findings of a page are wanted: not at all, all, or those of some severities. */
export interface FindingChoice {
  include: boolean;
  severity?: Set<Severity> | undefined;
}

export type ListStigService = ReturnType<typeof createListStigService>;

/** The entries of lists (specification, "Lists"; DECISIONS D8). */
export function createListStigService(db: Database, now: () => Date, newId: () => string) {
  const { sqlite } = db;
  const bundles = createBundleService(db, 'list', now, newId);
  // A STIG without a wanted finding is dropped by the counts of its release, before the page is cut.
  const matching = `FROM list_stigs AS e JOIN known_stigs AS s ON s.id = e.stig_id
    WHERE e.list_id = $list
      AND ($all = 1 OR ($high = 1 AND s.high > 0) OR ($medium = 1 AND s.medium > 0) OR ($low = 1 AND s.low > 0))`;
  const countMatching = sqlite.prepare<[object], number>(`SELECT count(*) ${matching}`).pluck();
  const page = sqlite.prepare<[object], EntryRow>(
    `SELECT s.slug, s.title, s.version, s.status, s.status_date, s.finding_count, s.high, s.medium, s.low,
            e.added_at, e.notes, e.position, s.release_id
       ${matching} ORDER BY e.position, s.slug LIMIT $limit OFFSET $offset`,
  );
  const findingsOf = sqlite.prepare<[number, string], FindingRow>(
    `SELECT group_id, rule_id, severity, rule_title, vuln_discussion, fix_text, check_content, ccis
       FROM findings WHERE release_id = ? AND instr(?, severity) > 0 ORDER BY ordinal`,
  );
  const currentStig = sqlite
    .prepare<[string], number>('SELECT id FROM stigs WHERE slug = ? AND current_release_id IS NOT NULL')
    .pluck();
  const lastPosition = sqlite
    .prepare<[string], number>('SELECT coalesce(max(position), 0) FROM list_stigs WHERE list_id = ?')
    .pluck();
  const insert = sqlite.prepare<[string, number, number, string]>(
    `INSERT INTO list_stigs (list_id, stig_id, position, notes, added_at) VALUES (?, ?, ?, '', ?)
     ON CONFLICT DO NOTHING`,
  );
  const removeEntry = sqlite.prepare<[string, string]>(
    'DELETE FROM list_stigs WHERE list_id = ? AND stig_id = (SELECT id FROM stigs WHERE slug = ?)',
  );
  const updateEntry = sqlite.prepare<
    [string | null, number | null, string, string],
    { notes: string; position: number; added_at: string }
  >(
    `UPDATE list_stigs SET notes = coalesce(?, notes), position = coalesce(?, position)
      WHERE list_id = ? AND stig_id = (SELECT id FROM stigs WHERE slug = ?)
     RETURNING notes, position, added_at`,
  );

  function rows(list: string, severity: Set<Severity> | undefined, wanted: Page | null) {
    const has = (name: Severity) => (severity?.has(name) ? 1 : 0);
    const filter = {
      list,
      all: severity === undefined ? 1 : 0,
      high: has('high'),
      medium: has('medium'),
      low: has('low'),
    };
    const total = countMatching.get(filter)!;
    const limit = wanted?.limit ?? total;
    const offset = wanted === null ? 0 : offsetOf(wanted, total);
    return { total, entries: page.all({ ...filter, limit, offset }) };
  }

  function findings(release: number | null, severity: Set<Severity> | undefined): ListFinding[] {
    if (release === null) return [];
    const wanted = severity === undefined ? 'high,medium,low' : [...severity].join(',');
    return findingsOf.all(release, wanted).map(toListFinding);
  }

  return {
    /** A page of entries by position, then slug; with findings, STIGs that have none of those wanted are left out. */
    page(viewer: Viewer, id: string, wanted: Page, { include, severity }: FindingChoice): ListStigs {
      return db.read(() => {
        const list = bundles.find(viewer, id);
        const only = include ? severity : undefined;
        const { total, entries } = rows(id, only, wanted);
        return {
          list: { id, name: list.name, stigCount: bundles.count(id) },
          stigs: entries.map((row) => ({
            ...toEntry(row),
            notes: row.notes,
            ...(include ? { findings: findings(row.release_id, only) } : {}),
          })),
          pagination: paginationOf(wanted, total),
        };
      });
    },

    /** All entries, without notes and findings. */
    exported(viewer: Viewer, id: string): ListExport {
      return db.read(() => {
        const { name, description } = bundles.find(viewer, id);
        return { list: { id, name, description }, stigs: rows(id, undefined, null).entries.map(toEntry) };
      });
    },

    /**
     * Appends the STIGs of the catalog that are not in the list yet, in the order given (D8.4). Throws a 400 where there is no
     * position after the last entry's: to make room would move entries that nobody asked to move.
     */
    add(user: User, id: string, slugs: string[]): Promise<StigsAdded> {
      return db.write(() => {
        bundles.own(user, id);
        const addedAt = now().toISOString();
        const missing: string[] = [];
        let position = lastPosition.get(id)!;
        let added = 0;
        for (const slug of new Set(slugs)) {
          const stig = currentStig.get(slug);
          if (stig === undefined) missing.push(slug);
          else if (insert.run(id, stig, position + 1, addedAt).changes === 1) {
            added++;
            if (++position > maxPosition) throw noPositionLeft();
          }
        }
        if (added > 0) bundles.change(id, {});
        const notFoundPart = missing.length === 0 ? {} : { notFound: missing };
        return { success: true, added, total: bundles.count(id), ...notFoundPart };
      });
    },

    /** Takes STIGs out of the list; what is not in it is no error. Gives how many were. */
    remove(user: User, id: string, slugs: string[]): Promise<number> {
      return db.write(() => {
        bundles.own(user, id);
        let removed = 0;
        for (const slug of new Set(slugs)) removed += removeEntry.run(id, slug).changes;
        if (removed > 0) bundles.change(id, {});
        return removed;
      });
    },

    /** One entry of a list. Throws 404 without such an entry. */
    entry(viewer: Viewer, id: string, stigSlug: string): Omit<ListEntry, 'findings'> {
      return db.read(() => {
        bundles.find(viewer, id);
        const row = rows(id, undefined, null).entries.find((each) => each.slug === stigSlug);
        if (!row) throw notFound();
        return { ...toEntry(row), notes: row.notes };
      });
    },

    /** Sets notes, position or both of one entry and moves no other. Throws 404 without such an entry. */
    update(
      user: User,
      id: string,
      stigSlug: string,
      change: { notes?: string | undefined; position?: number | undefined },
    ): Promise<ListStigUpdate> {
      return db.write(() => {
        bundles.own(user, id);
        const row = updateEntry.get(change.notes ?? null, change.position ?? null, id, stigSlug);
        if (!row) throw notFound();
        bundles.change(id, {});
        return { stigSlug, notes: row.notes, position: row.position, addedAt: row.added_at };
      });
    },
  };
}

function noPositionLeft(): Error {
  return badRequest(
    `An entry of the list has the highest position, ${maxPosition}: give it a lower one first`,
  );
}

function toEntry(row: EntryRow): Omit<ListEntry, 'notes' | 'findings'> {
  return {
    slug: row.slug,
    title: row.title,
    version: row.version,
    status: row.status,
    statusDate: row.status_date,
    findingCount: row.finding_count,
    catI: row.high,
    catII: row.medium,
    catIII: row.low,
    addedAt: row.added_at,
    position: row.position,
  };
}

/** The finding of a list (D4.6): shorter than that of the catalog, its severity named `ruleSeverity`. */
function toListFinding(row: FindingRow): ListFinding {
  const ccis = JSON.parse(row.ccis) as string[];
  return {
    groupId: row.group_id,
    ruleId: row.rule_id,
    ruleSeverity: row.severity,
    ruleTitle: row.rule_title,
    vulnDiscussion: row.vuln_discussion,
    fixText: row.fix_text,
    checkContent: row.check_content,
    ruleIdent: ccis[0] ?? '',
    ruleIdents: ccis,
  };
}
