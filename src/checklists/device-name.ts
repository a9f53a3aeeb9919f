import { cut } from '../base/text.ts';
import type { Cklb } from '../catalog/stigs/cklb-schema.ts';

/** Characters of a name that a sheet or a report repeats: the limit of STIG Manager. */
const longest = 255;

type Target = Pick<Cklb['target_data'], 'host_name' | 'web_db_site' | 'web_db_instance'>;

/** The name of what a checklist is of (rule D53.5): its host, with site and instance: `db01 (SITE, HR)`. May be empty. */
export function deviceName({ host_name, web_db_site, web_db_instance }: Target): string {
  const [host, ...part] = [host_name, web_db_site, web_db_instance].map((text) => cut(text.trim(), longest));
  const within = part.filter((text) => text !== '').join(', ');
  return within === '' ? host! : `${host} (${within})`.trim();
}
