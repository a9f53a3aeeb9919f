import { type Citation, citation, longestCitation, readCitation } from '../../base/citation.ts';
import { AppError, badRequest, notThere } from '../../base/errors.ts';
import { plainRuleId } from '../../base/rule-ids.ts';
import { cut } from '../../base/text.ts';
import { frameworkKey, frameworks } from '../controls/frameworks.ts';
import type { ControlService } from '../controls/queries.ts';
import type { ShownControl } from '../controls/schema.ts';
import type { RuleHistoryService } from '../stigs/history.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { StigService } from '../stigs/queries.ts';
import type { ReadingService } from '../stigs/reading.ts';
import type { CitedAnswer } from './citation-schema.ts';
import { citeControl } from './control-versions.ts';
import type { IdAnswer } from './schema.ts';
import { controlOf, lastOf } from './spelled.ts';

export interface CitationDeps {
  stigs: Pick<StigService, 'release' | 'versions'>;
  stigNames: Pick<StigNameIndex, 'ofSlug'>;
  ruleHistory: Pick<RuleHistoryService, 'current' | 'find'>;
  reading: Pick<ReadingService, 'group'>;
  controls: Pick<ControlService, 'one' | 'versionOf' | 'versions'>;
}

export type Citations = ReturnType<typeof createCitations>;

/** Opens citations (rule D41.4). */
export function createCitations({ stigs, stigNames, ruleHistory, reading, controls }: CitationDeps) {
  const isFramework = (name: string) =>
    (frameworks as readonly string[]).includes(frameworkKey(name)) ||
    (stigNames.ofSlug(name) === null && controls.versionOf(name, undefined) !== null);

  /** The retained release, or null where the catalog does not have it. */
  const releaseOf = (slug: string, version: string) => unlessMissing(() => stigs.release(slug, version));

  function stigOf(name: string) {
    const stig = stigNames.ofSlug(name);
    if (stig === null) throw notThere('ref', `STIG not found: ${cut(name)}`);
    return stig;
  }

  function stig({ name, version }: Citation): CitedAnswer {
    const { slug, title, version: newest } = stigOf(name);
    const release = releaseOf(slug, version);
    const label = release?.version ?? version.toUpperCase();
    const isNewest = release?.version === newest;
    const fact = { ref: citation(slug, label), kind: 'stig', id: slug, version: label } as const;
    const now = isNewest ? null : { cite: citation(slug, newest), title, href: page('stigs', slug) };
    if (release === null) {
      const advice = `${label} is not in this catalog. The newest release is ${newest}`;
      return { ...fact, holds: false, state: 'not_imported', title, href: null, now, advice };
    }
    const href = page('stigs', slug) + (isNewest ? '' : `?version=${encodeURIComponent(label)}`);
    const advice = isNewest ? null : `The newest release is ${newest}`;
    return {
      ...fact,
      holds: true,
      state: isNewest ? 'current' : 'former',
      title: release.title,
      href,
      now,
      advice,
    };
  }

  function rule({ name, version, id }: Citation & { id: string }): CitedAnswer {
    const { slug, version: newest } = stigOf(name);
    const release = releaseOf(slug, version);
    const group = release && reading.group(slug, id, release.version);
    const own = group?.rules.find(({ ruleId }) => isSameRule(ruleId, id)) ?? group?.rules[0];
    const [over] = ruleHistory.find(own?.groupId ?? id, slug);
    const later = over?.current ? over : undefined;
    const rulePage = (groupId: string, label: string) =>
      page('stigs', slug, 'rules', groupId) +
      (label === newest ? '' : `?version=${encodeURIComponent(label)}`);
    const inNewest = later && {
      cite: citation(slug, newest, later.ruleId),
      title: later.ruleTitle,
      href: rulePage(later.groupId, newest),
    };
    if (release && own) {
      const { ruleId, ruleTitle: title, groupId } = own;
      const fact = { ref: citation(slug, release.version, ruleId), kind: 'rule', id: ruleId, title } as const;
      const held = {
        ...fact,
        holds: true,
        version: release.version,
        href: rulePage(groupId, release.version),
      };
      if (release.version === newest) return { ...held, state: 'current', now: null, advice: null };
      const state = later ? 'former' : 'removed';
      const advice = later
        ? `The newest release ${newest} has ${later.ruleId}`
        : `${newest} does not have it`;
      return { ...held, state, now: inNewest ?? null, advice };
    }
    if (!over) throw notThere('ref', `Rule not found: ${cut(id)}`);
    const label = release?.version ?? version.toUpperCase();
    const last = lastOf(over);
    const lastCite = {
      cite: citation(slug, last, over.ruleId),
      title: over.ruleTitle,
      href: rulePage(over.groupId, last),
    };
    const why = release ? `${label} does not have ${cut(id)}` : `${label} is not in this catalog`;
    const since = later
      ? `The newest release ${newest} has ${later.ruleId}`
      : `Its last release here is ${last}`;
    return {
      ...{
        ref: citation(slug, label, id),
        kind: 'rule',
        holds: false,
        id,
        title: over.ruleTitle,
        version: label,
      },
      ...{ state: release ? 'absent' : 'not_imported', href: null, now: inNewest ?? lastCite },
      advice: `${why}. ${since}`,
    };
  }

  function control({ name, version, id }: Citation & { id: string }): CitedAnswer {
    const framework = frameworkKey(name);
    const kind = framework === 'cci' ? 'cci' : 'control';
    const read = (label?: string) => unlessMissing(() => controls.one(framework, id, label));
    const label = unlessMissing(() => controls.versionOf(framework, version));
    const cited = label === null ? null : read(label);
    const served = read();
    const now = served === null ? null : nowOf(framework, served);
    if (cited === null || label === null) {
      if (served === null) throw notThere('ref', `Control not found: ${cut(id)}`);
      const { identifier, title, statement } = served;
      const why =
        label === null ? `${cut(version)} is not in this catalog` : `${label} does not have ${identifier}`;
      return {
        ...{ ref: citation(framework, label ?? version, identifier), kind, holds: false, id: identifier },
        ...{ state: label === null ? 'not_imported' : 'absent', title: title || statement.slice(0, 200) },
        ...{ version: label ?? version, href: null, now, advice: `${why}. ${served.version} has it` },
      };
    }
    const { identifier, statement, status, withdrawn } = cited;
    const isServed =
      framework === 'nist-800-171' ||
      controls.versions(framework).some((each) => each.isServed && each.version === label);
    const fact = {
      ref: citation(framework, label, identifier),
      kind,
      holds: true,
      id: identifier,
      version: label,
    } as const;
    const held = {
      ...fact,
      title: cited.title || statement.slice(0, 200),
      href: controlHref(framework, identifier, isServed ? null : label),
    };
    if (status === 'withdrawn') {
      const into = withdrawn?.incorporatedInto ?? [];
      const advice = into.length > 0 ? `Withdrawn. Now in ${into.join(', ')}` : 'Withdrawn';
      return { ...held, state: kind === 'cci' ? 'deprecated' : 'withdrawn', now: null, advice };
    }
    if (isServed) return { ...held, state: 'current', now: null, advice: null };
    const advice = served
      ? `${served.version} has it too`
      : 'The version that is served by default does not have it';
    return { ...held, state: served ? 'former' : 'removed', now, advice };
  }

  return {
    /** Whether everybody may open a text: it cites a control or CCI, or is no citation and is refused as such first. */
    isPublic(ref: string): boolean {
      const cited = ref.length > longestCitation ? null : readCitation(ref);
      return cited === null || (cited.id !== null && isFramework(cited.name));
    },

    /** The citation of what an id of a question names; null where nothing here can be cited. */
    ofAnswer({ kind, id, asked, slug, version }: IdAnswer): string | null {
      if (kind === 'stig') return citation(id, version!);
      if (kind === 'control' || kind === 'cci') return citeControl(controls, controlOf(asked).framework, id);
      const [rule] = ruleHistory.current(id, slug);
      if (rule !== undefined) return citation(rule.slug, rule.version, rule.ruleId);
      const [former] = ruleHistory.find(id, slug);
      return former === undefined ? null : citation(former.slug, lastOf(former), former.ruleId);
    },

    /** Opens a citation. Throws 400 for another text, 404 for what no release in the catalog has. */
    open(ref: string): CitedAnswer {
      const cited = readCitation(ref);
      if (cited === null)
        throw badRequest('ref must be a citation such as slug@V2R8#SV-257777r991589_rule', 'ref');
      const { id } = cited;
      if (id !== null && isFramework(cited.name)) return control({ ...cited, id });
      return id === null ? stig(cited) : rule({ ...cited, id });
    },
  };
}

function nowOf(framework: string, { version, identifier, title, statement }: ShownControl) {
  const href = controlHref(framework, identifier, null);
  return { cite: citation(framework, version, identifier), title: title || statement.slice(0, 200), href };
}

function controlHref(framework: string, identifier: string, version: string | null): string {
  const at = framework === 'cci' ? page('ccis', identifier) : page('controls', framework, identifier);
  return at + (version === null ? '' : `?version=${encodeURIComponent(version)}`);
}

const isSameRule = (one: string, other: string) => plainRuleId(one) === plainRuleId(other);
const page = (...segments: string[]) => `/${segments.map(encodeURIComponent).join('/')}`;

/** What work gives, or null where it answers that something is not there. */
function unlessMissing<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}
