import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { createAudit } from '../audit/audited-action.ts';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken, isThere, realFile, writableByOthers } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { programFolder } from '../base/root.ts';
import { count, escaped, formatDigest } from '../base/text.ts';
import { applyBundle, type Exchanged, type OpenSite, rollBack } from '../content/apply.ts';
import { buildBundle } from '../content/bundle.ts';
import type { Exchange } from '../content/exchanges.ts';
import { defaultChannel } from '../content/manifest.ts';
import {
  decisionsOf,
  type LoneDecision,
  loneDecisions,
  type Plan,
  planBundle,
  planHeading,
  planSections,
} from '../content/plan.ts';
import { readBundle, type TrustedKey } from '../content/read-bundle.ts';
import { readPrivateKey, readPublicKey } from '../content/signing-keys.ts';
import { appliedBundles, trustedKeys } from '../content/trust.ts';
import { writeNewFile } from '../db/copy.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { contentPlanPage } from '../pages/content/plan-page.tsx';
import { auditedRun, type CommandAudit, openForCommand, withCommandAudit } from './audit.ts';
import { command, group, print, tell } from './command.ts';
import { keygenCommand, readChannel, trustCommand } from './content-keys.ts';

const busyTimeout = 30_000;
/** The text of a plan shows at most so many lines of a kind; JSON and the page show all. */
const mostLines = 20;
const objectType = 'bundle';
const about = { settings: ['auditFile', 'auditFailure'] } as const;

const warn = (warnings: string[]) => tell(...warnings.map((warning) => `warning: ${warning}`));

const buildCommand = () =>
  command('build', 'build a signed bundle of the catalog', {
    ...about,
    examples: ['gapstone content build --out q3.bundle --key content-key --sequence 1'],
  })
    .requiredOption('--out <bundle>', 'the bundle to create; it must not exist yet')
    .requiredOption('--key <file>', 'the private key to sign with')
    .option('--channel <channel>', `the channel of the bundle (${defaultChannel})`, readChannel)
    .option(
      '--sequence <number>',
      'greater than that of every bundle of the channel before; without it the time in digits',
      readSequence,
    )
    .action(async ({ out, key, channel = defaultChannel, sequence, ...options }) => {
      const now = new Date();
      const request = {
        channel,
        // The digits of the time only grow.
        sequence: sequence ?? Number(now.toISOString().replace(/\D/g, '').slice(0, 14)),
        now,
        key: readPrivateKey(key),
      };
      const config = readConfig(options);
      requireDatabaseFile(config.db);
      const { manifest, file, bytes, id } = await auditedRun(
        config,
        { action: 'content.build', objectType, objectId: out },
        () => buildBundle(config.db, out, request),
        (built) => ({
          bundle: built.id,
          digest: built.manifest.digest,
          sequence: built.manifest.sequence,
        }),
      );
      const { digest } = manifest;
      const printed = {
        files: [file],
        bytes,
        bundle: id,
        channel,
        sequence: manifest.sequence,
        digest,
        before: null,
      };
      print(options.json, printed, file);
      tell(
        `${channel} ${manifest.sequence}, whole: ${count(bytes, 'byte')}, catalog ${digest} (${formatDigest(digest)})`,
      );
    });

function readSequence(digits: string): number {
  const sequence = Number(digits);
  if (!/^[1-9]\d*$/.test(digits) || !Number.isSafeInteger(sequence))
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return sequence;
}

const verifyCommand = () =>
  command('verify', 'check a bundle, and change nothing', { examples: ['gapstone content verify q3.bundle'] })
    .argument('<bundle>', 'the bundle')
    .option('--key <file.pub>', 'a key to check with, in place of the trusted keys')
    .action(async (file, { key, ...options }) => {
      const { usersDb } = readConfig(options);
      const keys: TrustedKey[] =
        key === undefined ? trustedKeys(usersDb) : [{ name: null, channel: null, ...readPublicKey(key) }];
      const { id, bytes, manifest, signer, warnings } = await readBundle(file, keys, { now: new Date() });
      const { channel, sequence, digest, builtAt, expiresAt, schema, version, sources } = manifest;
      const verified = {
        bundle: id,
        channel,
        sequence,
        digest,
        before: null,
        builtAt,
        expiresAt,
        schema,
        version,
        sources: sources.length,
        bytes,
        signedBy: signer.name,
        fingerprint: signer.fingerprint,
        warnings,
      };
      warn(warnings);
      print(options.json, verified, `${digest}  ${file}`);
      tell(
        `${channel} ${sequence} of ${builtAt}, signed by ${signer.name ?? key}: ${count(sources.length, 'source')}, ` +
          `whole, catalog ${formatDigest(digest)}`,
      );
    });

const planCommand = () =>
  command('plan', 'show what applying a bundle would change', {
    examples: ['gapstone content plan q3.bundle'],
  })
    .argument('<bundle>', 'the bundle; it is verified first')
    .option('--all', `every line, not ${mostLines} of a kind`)
    .option('--html <file>', 'also as one HTML file; it must not exist yet')
    .action(async (file, { all, html, ...options }) => {
      const config = readConfig(options);
      requireFolder(config.db);
      if (html !== undefined && isTaken(html))
        throw new CommandError(`${html} already exists: choose another name`);
      const plan = await inPrivateFolder(`${realFile(config.db)}.plan`, async (temporary) => {
        const keys = trustedKeys(config.usersDb);
        const bundle = await readBundle(file, keys, { now: new Date(), unpackTo: temporary });
        return planBundle(config, bundle, temporary);
      });
      warn(plan.warnings);
      print(options.json, plan, inText(plan, all ? Number.POSITIVE_INFINITY : mostLines));
      if (html !== undefined) await writePage(html, plan, config);
    });

function inText(plan: Plan, most: number): string[] {
  const refusals = plan.refusals.map((line) => `apply would refuse it: ${line}`);
  const sections = planSections(plan);
  const lines = sections.flatMap(({ title, totals, changes }) => [
    '',
    `${title}: ${totals}`,
    ...changes.flatMap(({ sign, lines }) => [
      ...lines.slice(0, most).map((line) => `  ${sign} ${line}`),
      ...(lines.length > most ? [`  ${sign} and ${lines.length - most} more`] : []),
    ]),
  ]);
  const nothing = sections.length === 0 ? ['', 'nothing would change'] : [];
  return [planHeading(plan), ...refusals, ...lines, ...nothing];
}

async function writePage(file: string, plan: Plan, { banner }: Config): Promise<void> {
  const { bundle, digest, refusals, warnings } = plan;
  const page = contentPlanPage({
    style: readFileSync(join(programFolder, 'pages', 'assets', 'style.css'), 'utf8'),
    banner,
    heading: planHeading(plan),
    refusals,
    warnings,
    facts: [
      ['Digest of the catalog afterwards', digest],
      ['Bundle', bundle.bundle],
      ['Key', bundle.fingerprint],
    ],
    sections: planSections(plan).map(({ title, totals, changes }) => ({
      title,
      totals,
      lines: changes.flatMap(({ sign, word, lines }) =>
        lines.map((line): [string, string, string] => [sign, word, line]),
      ),
    })),
  });
  await writeNewFile(file, (temporary) =>
    writeFileSync(temporary, escaped(page), { mode: 0o600, flag: 'wx' }),
  );
  tell(`the plan is in ${file}`);
}

const applyCommand = () =>
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
        warn(bundle.warnings);
        const { decisions, ...applied } = await exchanging(config, audit, true, (site) =>
          applyBundle(site, bundle, read, { now, dropLocal }),
        );
        const { channel, sequence, digest } = applied.exchange;
        show(options.json, applied, decisions, `${digest}  ${file}`);
        tell(`${channel} ${sequence} is applied: catalog ${formatDigest(digest)}`);
        if (applied.keptAs !== null)
          tell(`the former catalog is in ${applied.keptAs}: "gapstone content rollback" restores it`);
      });
    });

const rollbackCommand = () =>
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

const listCommand = () =>
  command('list', 'list the bundles that this site applied, the last one first').action((options) => {
    for (const { id: _, ...row } of appliedBundles(readConfig(options).usersDb)) {
      const { appliedAt, channel, sequence, digest, signedBy, state } = row;
      print(
        options.json,
        row,
        [appliedAt, channel, sequence, formatDigest(digest), signedBy, state].join('  '),
      );
    }
  });

/** The commands for bundles (rule D32.1). */
export const contentCommand = () =>
  group('content', 'build signed bundles of a catalog for other sites, and apply them', [
    keygenCommand(),
    trustCommand(),
    buildCommand(),
    verifyCommand(),
    planCommand(),
    applyCommand(),
    rollbackCommand(),
    listCommand(),
  ]);
