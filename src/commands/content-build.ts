import { readFileSync } from 'node:fs';
import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isThere, statIfThere } from '../base/files.ts';
import { count, spoken } from '../base/text.ts';
import { attachSignature } from '../content/attach.ts';
import { type BuildOptions, buildBundle } from '../content/bundle.ts';
import { baseName, defaultChannel } from '../content/manifest.ts';
import { readUnverified } from '../content/read-bundle.ts';
import { readPrivateKey, readPublicKey } from '../content/signing-keys.ts';
import { trustedKeys } from '../content/trust.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { auditedRun } from './audit.ts';
import { expectPositionals, flag, parse, print, required, tell, text, texts } from './command.ts';
import { readChannel } from './content-keys.ts';

export const buildCommand = {
  usage:
    'gapstone content build --out BUNDLE (--key FILE | --unsigned) [--channel C] [--sequence N] [--expires T] [--time T]\n' +
    '                       [--split SIZE] [--since BUNDLE --sources PATH...] [--db FILE] [--json]',
  help: [
    'build: --key FILE      the private key to sign with; --unsigned: sign elsewhere, then attach the signature',
    `       --channel C     the channel of the bundle (${defaultChannel})`,
    '       --sequence N    greater than that of every bundle of the channel before; without it the time in digits, or',
    '                       with --since one more than that bundle has',
    '       --expires T     a date, or a date with a time: applying the bundle later gives a warning',
    '       --time T        in place of now: same catalog, same key and same time give the same bytes',
    '       --split SIZE    into pieces BUNDLE.001, BUNDLE.002 ... of so many bytes, or with K, M or G',
    '       --since BUNDLE  only the sources that the catalog of that bundle lacks, to be found in --sources PATH...',
  ],
  async run(args: string[]) {
    const { values, positionals } = parse(args, null, {
      ...{ out: text, key: text, unsigned: flag, channel: text, sequence: text, expires: text, time: text },
      ...{ split: text, since: text, sources: texts },
    });
    const sources = [...(values.sources ?? []), ...positionals];
    if (values.sources === undefined) expectPositionals(positionals, []);
    if ((values.since === undefined) !== (values.sources === undefined))
      throw new CommandError('--since and --sources belong together', 2);
    if ((values.key === undefined) === !values.unsigned)
      throw new CommandError('give either --key FILE or --unsigned', 2);
    if (values.unsigned && values.split !== undefined)
      throw new CommandError('--unsigned takes no --split: sign the bundle, then split it (split -b)', 2);
    for (const path of sources) if (!isThere(path)) throw new CommandError(`${path} does not exist`);
    const out = required(values.out, 'out');
    const time = values.time === undefined ? new Date() : readTime(values.time, 'time');
    const options: BuildOptions = {
      channel: readChannel(values.channel),
      sequence: readSequence(values.sequence, values.since, time),
      time,
      expires: values.expires === undefined ? null : readTime(values.expires, 'expires'),
      key: values.key === undefined ? null : readPrivateKey(values.key),
      split: values.split === undefined ? null : readSize(values.split),
      since: values.since === undefined ? null : { bundle: values.since, sources },
    };
    const config = readConfig(values);
    requireDatabaseFile(config.db);
    const event = { action: 'content.build', objectType: 'bundle', objectId: out };
    const { manifest, files, bytes, id } = await auditedRun(
      config,
      event,
      () => buildBundle(config.db, out, options),
      (built) => ({ bundle: built.id, digest: built.manifest.digest, sequence: built.manifest.sequence }),
    );
    const { channel, sequence, digest, before } = manifest;
    const built = { files, bytes, bundle: id, channel, sequence, digest, before: before?.digest ?? null };
    const what = before === null ? 'whole' : `a difference to ${baseName(before)}`;
    print(values.json, built, files);
    tell(`${channel} ${sequence}, ${what}: ${count(bytes, 'byte')}, catalog ${digest} (${spoken(digest)})`);
    if (values.unsigned) tell('it is not signed: sign its manifest.json, then "gapstone content attach"');
    return 0;
  },
};

export const attachCommand = {
  usage: 'gapstone content attach BUNDLE SIGNATURE [--key FILE.pub] [--users-db FILE] [--json]',
  help: [
    'attach: SIGNATURE       over manifest.json of BUNDLE, as "openssl dgst -sha384 -sign" makes it',
    '        --key FILE.pub  the key that made it; without it, a key that this site trusts must have made it',
  ],
  async run(args: string[]) {
    const { values, positionals } = parse(args, ['BUNDLE', 'SIGNATURE'], { key: text });
    const [bundle, file] = positionals as [string, string];
    const given = values.key === undefined ? null : { name: null, ...readPublicKey(values.key) };
    const config = readConfig(values);
    const stat = statIfThere(file);
    if (!stat?.isFile()) throw new CommandError(`there is no file ${file}`);
    if (stat.size > 4096) throw new CommandError(`${file} is too large for a signature`);
    const keys = given === null ? trustedKeys(config.usersDb) : [given];
    const event = { action: 'content.attach', objectType: 'bundle', objectId: bundle };
    const { id, key } = await auditedRun(
      config,
      event,
      () => attachSignature(bundle, readFileSync(file), keys),
      (signed) => ({ bundle: signed.id, fingerprint: signed.key.fingerprint }),
    );
    print(values.json, { bundle: id, signedBy: key.name, fingerprint: key.fingerprint }, `${id}  ${bundle}`);
    return 0;
  },
};

/** Reads a date or a date with a time; the default zone is UTC. */
function readTime(given: string, name: string): Date {
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(given);
  const hasZone = /(Z|[+-]\d\d:\d\d)$/.test(given.slice(10));
  const time = new Date(given.length > 10 && !hasZone ? `${given}Z` : given);
  if (!isTime || Number.isNaN(time.getTime()))
    throw new CommandError(
      `--${name} must be a date as 2026-11-22, or with a time as 2026-11-22T10:00:00Z`,
      2,
    );
  return time;
}

/** The given sequence, or the next one after a base, or the digits of the time, which only grow. */
function readSequence(given: string | undefined, since: string | undefined, time: Date): number {
  if (given === undefined && since !== undefined) return readUnverified(since).manifest.sequence + 1;
  const digits = given ?? time.toISOString().replace(/\D/g, '').slice(0, 14);
  const sequence = Number(digits);
  if (!/^[1-9]\d*$/.test(digits) || !Number.isSafeInteger(sequence))
    throw new CommandError('--sequence must be a whole number of at least 1', 2);
  return sequence;
}

/** Bytes, or a number with K, M or G. */
function readSize(given: string): number {
  const match = /^(\d{1,12})([KMG]?)B?$/i.exec(given);
  const factor = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[match?.[2]?.toUpperCase() ?? '']!;
  const size = Number(match?.[1]) * factor;
  if (!match || size < 1024)
    throw new CommandError('--split must be at least 1K: a number, or one with K, M or G', 2);
  return size;
}
