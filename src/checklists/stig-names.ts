import { cut, hasAtMost } from '../base/text.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';

/** What a STIG of a checklist is called in it: by benchmark id, else by title; empty where it says nothing. */
export const nameOf = ({ stig_id, stig_name }: Cklb['stigs'][number]): string =>
  stig_id.trim() || stig_name.trim();

/** The names of the STIGs of a checklist, each once. */
export function stigNames(stigs: Cklb['stigs']): string[] {
  return [...new Set(stigs.map(nameOf))].filter((name) => name !== '');
}

/** As many names as a message may echo (rule D2.2), the first in any case, and how many more there are. */
export function shortList(names: string[]): string {
  let shown = 1;
  while (shown < names.length && hasAtMost(names.slice(0, shown + 1).join(', '), 64)) shown++;
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `${cut(names.slice(0, shown).join(', '))}${more}`;
}
