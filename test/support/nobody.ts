import { gapstone } from './child.ts';
import type { Need } from './harness.ts';
import { programs } from './programs.ts';

/** An account without rights of its own. */
export const nobody = 65534;

/** What stands before a command line that this account is to run; only root may run it so. */
export const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'];

/** Does something in this process as that account where root runs it, else as who runs it. */
export async function actingAsNobody<T>(work: () => T | Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.setegid!(nobody);
  process.seteuid!(nobody);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}

/** Whether root runs the tests, and this account may read the program: not where that lies in a folder of root's own. */
export async function nobodyRunsProgram(): Promise<Need> {
  const here =
    process.getuid?.() === 0 &&
    programs('setpriv').here &&
    (await gapstone(['--version'], { cwd: '/', under: asNobody })).code === 0;
  return { here, bring: 'Run the tests as root, with setpriv, from a folder that every account may read.' };
}
