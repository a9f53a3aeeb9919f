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
import { flag, parse, print, tell } from './command.ts';

const busyTimeout = 30_000;
const objectType = 'bundle';

export const applyCommand = {
  usage: 'gapstone content apply BUNDLE [--drop-local] [--db FILE] [--users-db FILE] [--json]',
  help: [
    'apply: BUNDLE          is verified first; a running server switches to its catalog by itself',
    '       --drop-local    remove the sources that this site has and the bundle lacks',
  ],
  async run(args: string[]) {
    const { values, positionals } = parse(args, ['BUNDLE'], { 'drop-local': flag });
    const [file] = positionals as [string];
    const config = readConfig(values);
    const options = { now: new Date(), dropLocal: values['drop-local'] ?? false };
    const read = (unpackTo?: string) =>
      readBundle(file, trustedKeys(config.usersDb), {
        now: options.now,
        ...(unpackTo === undefined ? {} : { unpackTo }),
      });
    // Without users' data no key is trusted: fail before creating it.
    if (!isThere(config.usersDb)) await read();
    requireFolder(config.db);
    const [open] = writableByOthers([config.usersDb, config.auditFile]);
    if (open !== undefined) throw new CommandError(`nothing was applied: ${open}`);
    const failed = { action: 'content.apply', objectType, objectId: file };
    return withCommandAudit(config, null, failed, async (audit) => {
      const bundle = await read();
      for (const warning of bundle.warnings) tell(`warning: ${warning}`);
      const { decisions, ...applied } = await exchanging(config, audit, true, (site) =>
        applyBundle(site, bundle, read, options),
      );
      const { exchange, keptAs } = applied;
      show(values.json, applied, decisions, `${exchange.digest}  ${file}`);
      const { channel, sequence, digest } = exchange;
      tell(`${channel} ${sequence} is applied: catalog ${spoken(digest)}`);
      if (keptAs !== null)
        tell(`the former catalog is in ${keptAs}: "gapstone content rollback" restores it`);
      return 0;
    });
  },
};

export const rollbackCommand = {
  usage: 'gapstone content rollback [--db FILE] [--users-db FILE] [--json]',
  help: ['rollback:  restores the catalog from before the last bundle, once'],
  async run(args: string[]) {
    const { values } = parse(args, [], {});
    const config = readConfig(values);
    requireDatabaseFile(config.db);
    return withCommandAudit(config, null, { action: 'content.rollback', objectType }, async (audit) => {
      const { decisions, ...undone } = await exchanging(config, audit, false, rollBack);
      const { exchange, keptAs } = undone;
      show(values.json, undone, decisions, `${exchange.channel} ${exchange.sequence} is rolled back`);
      tell(
        `the replaced catalog is in ${keptAs} until the next bundle is applied; the same bundle can be applied again`,
      );
      return 0;
    });
  },
};

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
