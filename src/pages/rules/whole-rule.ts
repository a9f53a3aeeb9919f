import type { RuleText } from '../../catalog/stigs/reading.ts';

const categories = { high: 'CAT I', medium: 'CAT II', low: 'CAT III' } as const;

/** A rule with its ids, citation and texts in one piece, to be pasted elsewhere: as plain text or as Markdown. */
export function wholeRule(rule: RuleText, cite: string, form: 'text' | 'Markdown'): string {
  const isText = form === 'text';
  const facts = [
    ['Severity', categories[rule.severity]],
    ['V-ID', rule.groupId],
    ['STIG ID', rule.ruleVersion],
    ['Rule ID', rule.ruleId],
    ['CCIs', rule.ruleIdents.join(', ')],
    ['Citation', cite],
  ].filter(([, value]) => value !== '');
  const texts = [
    ['Discussion', rule.vulnDiscussion],
    ['Check', rule.checkContent],
    ['Fix', rule.fixText],
  ] as const;
  return [
    isText ? rule.ruleTitle : `## ${rule.ruleTitle}`,
    facts.map(([name, value]) => (isText ? `${name}: ${value}` : `- **${name}:** ${value}`)).join('\n'),
    // Published commands contain Markdown's own marks, so a text stands in a fence that is longer than any in it.
    ...texts.map(([name, text]) => (isText ? `${name}\n\n${text}` : `### ${name}\n\n${fenced(text)}`)),
  ].join('\n\n');
}

function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
