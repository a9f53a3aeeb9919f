import { link, path } from './components.tsx';

/** What narrows the rules that are read one after the other, as it was typed. */
export interface ReadingFilter {
  search: string;
  severity: string[];
  cci: string;
}

/** The address of a rule's page; with `filter`, the rules before and after it there are those that it lets pass. */
export function ruleHref(
  slug: string,
  rule: { groupId: string },
  version = '',
  filter: Partial<ReadingFilter> = {},
): string {
  return link(path('stigs', slug, 'rules', rule.groupId), { version, ...filter });
}

/** The address of a changed rule where two releases are compared, with all its text. */
export function ruleInDiff(slug: string, from: string, to: string, groupId: string): string {
  const page = link(path('stigs', slug, 'diff'), { from, to, rule: groupId });
  return `${page}#${encodeURIComponent(groupId)}`;
}

/** The address of the page that compares two releases. */
export function diffHref(slug: string, from: string, to: string): string {
  return link(path('stigs', slug, 'diff'), { from, to });
}

/** The two ids that a rule is known by, one above the other. */
export function RuleIds({ of }: { of: { groupId: string; ruleVersion: string } }) {
  return (
    <span class="ids">
      {of.groupId}
      <br />
      {of.ruleVersion}
    </span>
  );
}
