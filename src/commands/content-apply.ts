import { createAudit } from '../audit/audited-action.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere, writableByOthers } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { spoken } from '../base/text.ts';
import { applyBundle, type Exchanged, type OpenSite } from '../content/apply.ts';
import type { Exchange } from '../content/exchanges.ts';
import { decisionsOf, type LoneDecision, loneDecisions } from '../content/plan.ts';
import { readBundle } from '../content/read-bundle.ts';
import { rollBack } from '../content/rollback.ts';
import { trustedKeys } from '../content/trust.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { type CommandAudit, openForCommand, withCommandAudit } from './audit.ts';
import { command, print, tell } from './command.ts';

const busyTimeout = 30_000;
const objectType = 'bundle';
const about = { settings: ['auditFile', 'auditFailure'] } as const;

export const applyCommand = () =>
  command('apply', 'replace the catalog by that of a bundle', {
    ...about,
    notes: ['A running server switches to the new catalog by itself.'],
    examples: ['gapstone content apply q3.bundle'],
  })
    .argument('<bundle>', 'the bundle; it is verified first')
    .option('--drop-local', 'remove the sources that this site has and the bundle lacks')
    .action(async (file, { dropLocal = false, ...options }) => {
      const config = readConfig(options);
      const now = new Date();
      const read = (unpackTo?: string) =>
        readBundle(file, trustedKeys(config.usersDb), { now, ...(unpackTo !== undefined && { unpackTo }) });
      // Without users' data no key is trusted: fail before creating it.
      if (!isThere(config.usersDb)) await read();
      requireFolder(config.db);
      const [open] = writableByOthers([config.usersDb, config.auditFile]);
      if (open !== undefined) throw new CommandError(`nothing was applied: ${open}`);
      const failed = { action: 'content.apply', objectType, objectId: file };
      await withCommandAudit(config, null, failed, async (audit) => {
        const bundle = await read();
        for (const warning of bundle.warnings) tell(`warning: ${warning}`);
        const { decisions, ...applied } = await exchanging(config, audit, true, (site) =>
          applyBundle(site, bundle, read, { now, dropLocal }),
        );
        const { channel, sequence, digest } = applied.exchange;
        show(options.json, applied, decisions, `${digest}  ${file}`);
        tell(`${channel} ${sequence} is applied: catalog ${spoken(digest)}`);
        if (applied.keptAs !== null)
          tell(`the former catalog is in ${applied.keptAs}: "gapstone content rollback" restores it`);
      });
    });

export const rollbackCommand = () =>
  command('rollback', 'restore the catalog from before the last bundle, once', about).action(
    async (options) => {
      const config = readConfig(options);
      requireDatabaseFile(config.db);
      await withCommandAudit(config, null, { action: 'content.rollback', objectType }, async (audit) => {
        const { decisions, ...undone } = await exchanging(config, audit, false, rollBack);
        const { channel, sequence } = undone.exchange;
        show(options.json, undone, decisions, `${channel} ${sequence} is rolled back`);
        tell(
          `the replaced catalog is in ${undone.keptAs} until the next bundle is applied; the same bundle can be applied again`,
        );
      });
    },
  );

/** Exchanges the catalog of a site, and compares its mapping decisions before and after. */
async function exchanging(
  config: Config,
  { stream, event }: CommandAudit,
  create: boolean,
  work: (site: OpenSite) => Promise<Exchanged>,
): Promise<Exchanged & { decisions: LoneDecision[] }> {
  using db = await openForCommand(config, { create, busyTimeout });
  const audit = createAudit(stream, db);
  try {
    const record: OpenSite['record'] = (action, exchange, change) =>
      audit.run(
        () => event({ action, objectType, objectId: exchange.bundle, detail: detailOf(exchange) }),
        () => db.write(change),
      );
    const before = decisionsOf(db);
    const done = await work({ db, file: config.db, record });
    return { ...done, decisions: loneDecisions(before, decisionsOf(db)) };
  } finally {
    audit.close();
  }
}

function detailOf({ channel, sequence, digest, signedBy, fingerprint }: Omit<Exchange, 'id' | 'state'>) {
  return { channel, sequence, digest, signedBy, fingerprint };
}

function show(
  json: boolean | undefined,
  { exchange: { id: _, ...exchange }, keptAs }: Exchanged,
  decisions: LoneDecision[],
  line: string,
): void {
  print(json, { ...exchange, keptAs, decisions }, line);
  for (const { from, to, status, why } of decisions)
    tell(`warning: decision ${status} about ${from} and ${to}: ${why}`);
}
