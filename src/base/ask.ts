/**
 * Runs a job, by default in a query worker: a function of the services and of plain arguments whose cost depends on the
 * size of the catalog or of the input (`src/work/jobs.ts` lists them). Gives its result. Rejects with what the job
 * throws, and with a 503 when it takes too long.
 */
export type Ask = <Args extends unknown[], Value>(
  job: (services: never, ...args: Args) => Value,
  ...args: Args
) => Promise<Awaited<Value>>;
