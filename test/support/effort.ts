/**
 * Milliseconds of processor time that a piece of work takes in this process. Unlike the clock they do not grow with what
 * else the machine does, so a bound on them holds on a loaded one.
 */
export async function effortOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
