import { gapstone } from './child.ts';
import type { Need } from './harness.ts';
import { programs } from './programs.ts';

/** An account without rights of its own. */
export const nobody = 65534;

/** What stands before a command line that this account is to run; only root may run it so. */
export const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];

/** Whether root runs the tests, and this account may read the program: not where that lies in a folder of root's own. */
export async function nobodyRunsProgram(): Promise<Need> {
  const here =
    process.getuid?.() === 0 &&
    programs('setpriv').here &&
    (await gapstone(['--version'], { cwd: '/', under: asNobody })).code === 0;
  return { here, bring: 'Run the tests as root, with setpriv, from a folder that every account may read.' };
}
