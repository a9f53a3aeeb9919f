import { frameworkTitle } from '../../base/framework-title.ts';
import { link, path } from './components.tsx';

/** The filter under which a reader goes from rule to rule, as typed. */
export interface ReadingFilter {
  search: string;
  severity: string[];
  cci: string;
  /** States of automation. */
  checked: string[];
}

/** The address of a rule's page. With `filter`, its neighbors there are the rules that match. */
export function ruleHref(
  slug: string,
  rule: { groupId: string },
  version = '',
  filter: Partial<ReadingFilter> = {},
): string {
  return link(path('stigs', slug, 'rules', rule.groupId), { version, ...filter });
}

/** The address of a changed rule in full, in the comparison of two releases. */
export function ruleInDiff(slug: string, from: string, to: string, groupId: string): string {
  const page = link(path('stigs', slug, 'diff'), { from, to, rule: groupId });
  return `${page}#${encodeURIComponent(groupId)}`;
}

/** The address of the page that compares two releases. */
export function diffHref(slug: string, from: string, to: string): string {
  return link(path('stigs', slug, 'diff'), { from, to });
}

export function RuleIds({ of }: { of: { groupId: string; ruleVersion: string } }) {
  return (
    <span class="ids">
      {of.groupId}
      <br />
      {of.ruleVersion}
    </span>
  );
}

/** The name of a framework; its key for a site's own. */
export const frameworkName = frameworkTitle;

/** The page of a catalog's controls. */
export function catalogHref(framework: string): string {
  return framework === 'cci' ? '/ccis' : path('controls', framework);
}

/** The page of a control. */
export function controlHref(framework: string, identifier: string): string {
  return framework === 'cci' ? path('ccis', identifier) : path('controls', framework, identifier);
}
