import { cut, hasAtMost } from '../base/text.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';

/** The name of a STIG in a checklist: its benchmark id, else its title; may be empty. */
export const nameOf = ({ stig_id, stig_name }: Cklb['stigs'][number]): string =>
  stig_id.trim() || stig_name.trim();

/** The names of the STIGs of a checklist, without duplicates. */
export function stigNames(stigs: Cklb['stigs']): string[] {
  return [...new Set(stigs.map(nameOf))].filter((name) => name !== '');
}

/** At least one name, up to what a message may echo (rule D2.2), and how many more there are. */
export function shortList(names: string[]): string {
  let shown = 1;
  while (shown < names.length && hasAtMost(names.slice(0, shown + 1).join(', '), 64)) shown++;
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `${cut(names.slice(0, shown).join(', '))}${more}`;
}
