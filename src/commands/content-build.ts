import { InvalidArgumentError } from '@commander-js/extra-typings';
import { readConfig } from '../base/config.ts';
import { count, spoken } from '../base/text.ts';
import { buildBundle } from '../content/bundle.ts';
import { defaultChannel } from '../content/manifest.ts';
import { readPrivateKey } from '../content/signing-keys.ts';
import { requireDatabaseFile } from '../db/database.ts';
import { auditedRun } from './audit.ts';
import { command, print, tell } from './command.ts';
import { readChannel } from './content-keys.ts';

export const buildCommand = () =>
  command('build', 'build a signed bundle of the catalog', {
    settings: ['auditFile', 'auditFailure'],
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
        { action: 'content.build', objectType: 'bundle', objectId: out },
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
        sequence: request.sequence,
        digest,
        before: null,
      };
      print(options.json, printed, file);
      tell(
        `${channel} ${request.sequence}, whole: ${count(bytes, 'byte')}, catalog ${digest} (${spoken(digest)})`,
      );
    });

function readSequence(digits: string): number {
  const sequence = Number(digits);
  if (!/^[1-9]\d*$/.test(digits) || !Number.isSafeInteger(sequence))
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return sequence;
}
