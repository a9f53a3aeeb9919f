import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { count, spoken } from '../base/text.ts';
import { buildBundle } from '../content/bundle.ts';
import { defaultChannel } from '../content/manifest.ts';
import { readPrivateKey } from '../content/signing-keys.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { auditedRun } from './audit.ts';
import { parse, print, required, tell, text } from './command.ts';
import { readChannel } from './content-keys.ts';

export const buildCommand = {
  usage: 'gapstone content build --out BUNDLE --key FILE [--channel C] [--sequence N] [--db FILE] [--json]',
  help: [
    'build: --key FILE      the private key to sign with',
    `       --channel C     the channel of the bundle (${defaultChannel})`,
    '       --sequence N    greater than that of every bundle of the channel before; without it the time in digits',
  ],
  async run(args: string[]) {
    const { values } = parse(args, [], { out: text, key: text, channel: text, sequence: text });
    const out = required(values.out, 'out');
    const now = new Date();
    const options = {
      channel: readChannel(values.channel),
      sequence: readSequence(values.sequence, now),
      now,
      key: readPrivateKey(required(values.key, 'key')),
    };
    const config = readConfig(values);
    requireDatabaseFile(config.db);
    const { manifest, file, bytes, id } = await auditedRun(
      config,
      { action: 'content.build', objectType: 'bundle', objectId: out },
      () => buildBundle(config.db, out, options),
      (built) => ({ bundle: built.id, digest: built.manifest.digest, sequence: built.manifest.sequence }),
    );
    const { channel, sequence, digest } = manifest;
    print(values.json, { files: [file], bytes, bundle: id, channel, sequence, digest, before: null }, file);
    tell(`${channel} ${sequence}, whole: ${count(bytes, 'byte')}, catalog ${digest} (${spoken(digest)})`);
    return 0;
  },
};

/** The given sequence, or the digits of the time, which only grow. */
function readSequence(given: string | undefined, now: Date): number {
  const digits = given ?? now.toISOString().replace(/\D/g, '').slice(0, 14);
  const sequence = Number(digits);
  if (!/^[1-9]\d*$/.test(digits) || !Number.isSafeInteger(sequence))
    throw new CommandError('--sequence must be a whole number of at least 1', 2);
  return sequence;
}
