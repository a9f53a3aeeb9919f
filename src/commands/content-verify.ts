import { readConfig } from '../base/config.ts';
import { count, spoken } from '../base/text.ts';
import { readBundle, type TrustedKey } from '../content/read-bundle.ts';
import { readPublicKey } from '../content/signing-keys.ts';
import { appliedBundles, trustedKeys } from '../content/trust.ts';
import { parse, print, tell, text } from './command.ts';

export const verifyCommand = {
  usage: 'gapstone content verify BUNDLE [--key FILE.pub] [--users-db FILE] [--json]',
  help: ['verify: --key FILE.pub  a key to check with, in place of the trusted keys'],
  async run(args: string[]) {
    const { values, positionals } = parse(args, ['BUNDLE'], { key: text });
    const [file] = positionals as [string];
    const config = readConfig(values);
    const keys: TrustedKey[] =
      values.key === undefined
        ? trustedKeys(config.usersDb)
        : [{ name: null, channel: null, ...readPublicKey(values.key) }];
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
    print(values.json, verified, `${digest}  ${file}`);
    tell(
      `${channel} ${sequence} of ${builtAt}, signed by ${signer.name ?? values.key}: ${count(sources.length, 'source')}, ` +
        `whole, catalog ${spoken(digest)}`,
    );
    return 0;
  },
};

export const listCommand = {
  usage: 'gapstone content list [--users-db FILE] [--json]',
  help: ['list:  the bundles that this site applied, the last one first'],
  async run(args: string[]) {
    const { values } = parse(args, [], {});
    for (const { id: _, ...row } of appliedBundles(readConfig(values).usersDb)) {
      const { appliedAt, channel, sequence, digest, signedBy, state } = row;
      print(values.json, row, [appliedAt, channel, sequence, spoken(digest), signedBy, state].join('  '));
    }
    return 0;
  },
};
