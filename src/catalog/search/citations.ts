import { type Citation, citation, longestCitation, readCitation } from '../../base/citation.ts';
import { badRequest, notThere } from '../../base/errors.ts';
import { plainRuleId } from '../../base/rule-ids.ts';
import { cut } from '../../base/text.ts';
import { frameworkKey, isPublished } from '../controls/frameworks.ts';
import type { ControlService } from '../controls/queries.ts';
import type { ShownControl } from '../controls/schema.ts';
import type { RuleHistoryService } from '../stigs/history.ts';
import type { StigByName, StigNameIndex } from '../stigs/name-index.ts';
import type { StigService } from '../stigs/queries.ts';
import type { ReadingService } from '../stigs/reading.ts';
import { citeControl } from './control-versions.ts';
import type { CitedAnswer, IdAnswer } from './schema.ts';
import { controlOf, lastOf } from './spelled.ts';

interface CitationDeps {
  stigs: StigService;
  stigNames: StigNameIndex;
  ruleHistory: RuleHistoryService;
  reading: ReadingService;
  controls: ControlService;
}

export type Citations = ReturnType<typeof createCitations>;

/** Opens citations (rule D41.4). */
export function createCitations({ stigs, stigNames, ruleHistory, reading, controls }: CitationDeps) {
  const isFramework = (name: string) =>
    isPublished(frameworkKey(name)) ||
    (stigNames.ofSlug(name) === null && controls.findVersion(name, undefined) !== null);

  /** What a citation names; null for what no release in the catalog has. Throws 400 for another text. */
  function find(ref: string): CitedAnswer | null {
    const { name, version, id } = read(ref);
    if (id !== null && isFramework(name)) return control(frameworkKey(name), version, id);
    const named = stigNames.ofSlug(name);
    if (named === null) return null;
    return id === null ? stig(named, version) : rule(named, version, id);
  }

  function stig({ slug, title, version: newest }: StigByName, version: string): CitedAnswer {
    const release = stigs.findRelease(slug, version);
    const label = release?.version ?? version.toUpperCase();
    const isNewest = label === newest;
    const why = release === null ? `${label} is not in this catalog. ` : '';
    return {
      ref: citation(slug, label),
      kind: 'stig',
      id: slug,
      version: label,
      holds: release !== null,
      state: release === null ? 'not_imported' : isNewest ? 'current' : 'former',
      title: release?.title ?? title,
      href: release && page(['stigs', slug], isNewest ? null : label),
      now: isNewest ? null : { cite: citation(slug, newest), title, href: page(['stigs', slug]) },
      advice: isNewest ? null : `${why}The newest release is ${newest}`,
    };
  }

  function rule({ slug, version: newest }: StigByName, version: string, id: string): CitedAnswer | null {
    const release = stigs.findRelease(slug, version);
    const label = release?.version ?? version.toUpperCase();
    const rules = release === null ? [] : (reading.group(slug, id, label)?.rules ?? []);
    const own = rules.find(({ ruleId }) => plainRuleId(ruleId) === plainRuleId(id)) ?? rules[0];
    const [known] = ruleHistory.find(own?.groupId ?? id, slug);
    const hrefOf = (groupId: string, release: string) =>
      page(['stigs', slug, 'rules', groupId], release === newest ? null : release);
    const knownIn = (release: string) => ({
      cite: citation(slug, release, known!.ruleId),
      title: known!.ruleTitle,
      href: hrefOf(known!.groupId, release),
    });
    if (own !== undefined) {
      const isNewest = label === newest;
      const isLater = known?.current === true;
      return {
        ref: citation(slug, label, own.ruleId),
        kind: 'rule',
        id: own.ruleId,
        title: own.ruleTitle,
        holds: true,
        version: label,
        href: hrefOf(own.groupId, label),
        state: isNewest ? 'current' : isLater ? 'former' : 'removed',
        now: isNewest || !isLater ? null : knownIn(newest),
        advice: isNewest
          ? null
          : isLater
            ? `The newest release ${newest} has ${known.ruleId}`
            : `${newest} does not have it`,
      };
    }
    if (known === undefined) return null;
    const why = release === null ? `${label} is not in this catalog` : `${label} does not have ${cut(id)}`;
    const last = known.current ? newest : lastOf(known);
    return {
      ref: citation(slug, label, id),
      kind: 'rule',
      holds: false,
      id,
      title: known.ruleTitle,
      version: label,
      state: release === null ? 'not_imported' : 'absent',
      href: null,
      now: knownIn(last),
      advice: known.current
        ? `${why}. The newest release ${newest} has ${known.ruleId}`
        : `${why}. Its last release here is ${last}`,
    };
  }

  function control(framework: string, version: string, id: string): CitedAnswer | null {
    const kind = framework === 'cci' ? 'cci' : 'control';
    const label = controls.findVersion(framework, version);
    const cited = label === null ? null : controls.find(framework, id, label);
    const served = controls.find(framework, id);
    const now = served && {
      cite: citation(framework, served.version, served.identifier),
      title: titleOf(served),
      href: controlHref(served),
    };
    if (cited === null || label === null) {
      if (served === null) return null;
      const { identifier } = served;
      const why =
        label === null ? `${cut(version)} is not in this catalog` : `${label} does not have ${identifier}`;
      return {
        ref: citation(framework, label ?? version, identifier),
        kind,
        holds: false,
        id: identifier,
        state: label === null ? 'not_imported' : 'absent',
        title: titleOf(served),
        version: label ?? version,
        href: null,
        now,
        advice: `${why}. ${served.version} has it`,
      };
    }
    const { identifier, status, withdrawn } = cited;
    const isServed =
      framework === 'nist-800-171' ||
      controls.versions(framework).some((each) => each.isServed && each.version === label);
    const held = {
      ref: citation(framework, label, identifier),
      kind,
      holds: true,
      id: identifier,
      version: label,
      title: titleOf(cited),
      href: controlHref(cited, isServed ? null : label),
    } as const;
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
    find,

    /** As `find`. Throws 404 for what no release in the catalog has. */
    open(ref: string): CitedAnswer {
      const found = find(ref);
      if (found !== null) return found;
      const { name, id } = read(ref);
      if (id !== null && isFramework(name)) throw notThere('ref', `Control not found: ${cut(id)}`);
      const isKnown = stigNames.ofSlug(name) !== null;
      throw notThere('ref', isKnown ? `Rule not found: ${cut(id!)}` : `STIG not found: ${cut(name)}`);
    },

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
  };
}

function read(ref: string): Citation {
  const cited = readCitation(ref);
  if (cited === null)
    throw badRequest('ref must be a citation such as slug@V2R8#SV-257777r991589_rule', 'ref');
  return cited;
}

const titleOf = ({ title, statement }: ShownControl): string => title || statement.slice(0, 200);

/** The address of a page; of a version other than the one that is shown by default, with it. */
export function page(segments: string[], version: string | null = null): string {
  const query = version === null ? '' : `?version=${encodeURIComponent(version)}`;
  return `/${segments.map(encodeURIComponent).join('/')}${query}`;
}

const controlHref = ({ framework, identifier }: ShownControl, version: string | null = null) =>
  page(framework === 'cci' ? ['ccis', identifier] : ['controls', framework, identifier], version);
