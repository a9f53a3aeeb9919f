import { readConfig } from '../base/config.ts';
import { count, spoken } from '../base/text.ts';
import { readBundle, type TrustedKey } from '../content/read-bundle.ts';
import { readPublicKey } from '../content/signing-keys.ts';
import { appliedBundles, trustedKeys } from '../content/trust.ts';
import { command, print, tell } from './command.ts';

export const verifyCommand = () =>
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
      for (const warning of warnings) tell(`warning: ${warning}`);
      print(options.json, verified, `${digest}  ${file}`);
      tell(
        `${channel} ${sequence} of ${builtAt}, signed by ${signer.name ?? key}: ${count(sources.length, 'source')}, ` +
          `whole, catalog ${spoken(digest)}`,
      );
    });

export const listCommand = () =>
  command('list', 'list the bundles that this site applied, the last one first').action((options) => {
    for (const { id: _, ...row } of appliedBundles(readConfig(options).usersDb)) {
      const { appliedAt, channel, sequence, digest, signedBy, state } = row;
      print(options.json, row, [appliedAt, channel, sequence, spoken(digest), signedBy, state].join('  '));
    }
  });
