import { cut } from '../base/text.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';

/** What the STIGs of a checklist are called in it: by benchmark id, else by title; each once, none where it says nothing. */
export function stigNames(stigs: Cklb['stigs']): string[] {
  const names = stigs.map(({ stig_id, stig_name }) => stig_id.trim() || stig_name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

/** As many names as a message may echo (rule D2.2), the first in any case, and how many more there are. */
export function shortList(names: string[]): string {
  let shown = 1;
  while (shown < names.length && [...names.slice(0, shown + 1).join(', ')].length <= 64) shown++;
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `${cut(names.slice(0, shown).join(', '))}${more}`;
}
