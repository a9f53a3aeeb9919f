import { InvalidArgumentError } from '@commander-js/extra-typings';
import { type Flags, readConfig } from '../base/config.ts';
import { isVisibleLine } from '../base/text.ts';
import { channelName, defaultChannel } from '../content/manifest.ts';
import { makeKey, type PublicKey, publicFileOf, readPublicKey } from '../content/signing-keys.ts';
import { addKey, removeKey, trustedKeys } from '../content/trust.ts';
import type { Connection } from '../db/connect.ts';
import { openUsersForCommand, withCommandAudit } from './audit.ts';
import { command, group, print } from './command.ts';

const busyTimeout = 30_000;
const about = { settings: ['auditFile', 'auditFailure'] } as const;

export const keygenCommand = () =>
  command('keygen', 'make a key to sign bundles with', {
    examples: ['gapstone content keygen --out content-key'],
  })
    .requiredOption(
      '--out <file>',
      'the private key to create (mode 0600); its public half is written to FILE.pub',
    )
    .action(({ out, json }) => {
      const { fingerprint } = makeKey(out);
      const made = { privateKey: out, publicKey: publicFileOf(out), fingerprint };
      print(json, made, `${fingerprint}  ${made.publicKey}`);
    });

const addCommand = () =>
  command('add', 'trust a key', {
    ...about,
    examples: ['gapstone content trust add content-key.pub --name depot'],
  })
    .argument('<file.pub>', 'the public half of the key')
    .requiredOption('--name <name>', 'the name of the key at this site', readName)
    .option('--channel <channel>', `the one channel that the key may sign (${defaultChannel})`, readChannel)
    .action((file, { name, channel = defaultChannel, ...options }) => {
      const key = { name, channel, ...readPublicKey(file) };
      return changeTrust(options, 'add', name, (users) => {
        addKey(users, key, new Date());
        return key;
      });
    });

const removeCommand = () =>
  command('remove', 'trust a key no longer', about)
    .argument('<name>', 'the name of the key at this site')
    .action((name, options) => changeTrust(options, 'remove', name, (users) => removeKey(users, name)));

const listCommand = () =>
  command('list', 'list the trusted keys').action((options) => {
    for (const { publicKey, ...key } of trustedKeys(readConfig(options).usersDb))
      print(
        options.json,
        { ...key, publicKey },
        [key.name, key.channel, key.fingerprint, key.addedAt].join('  '),
      );
  });

export const trustCommand = () =>
  group('trust', 'add, list and remove the keys whose bundles this site applies', [
    addCommand(),
    listCommand(),
    removeCommand(),
  ]);

function readName(text: string): string {
  const name = text.trim();
  if (!/^[^\p{C}]{1,64}$/u.test(name) || !isVisibleLine(name))
    throw new InvalidArgumentError('It must have 1 to 64 characters, all of them visible.');
  return name;
}

/** Reads the channel of an option. */
export function readChannel(text: string): string {
  const read = channelName.safeParse(text);
  if (!read.success) throw new InvalidArgumentError(`It ${read.error.issues[0]!.message}.`);
  return read.data;
}

/** Changes the trusted keys, audits it in the same transaction, and prints the key. */
async function changeTrust(
  options: Flags & { json?: true },
  action: 'add' | 'remove',
  objectId: string,
  change: (users: Connection) => PublicKey & { name: string; channel: string },
): Promise<void> {
  const config = readConfig(options);
  const event = { action: `content.trust-${action}`, objectType: 'content-key', objectId };
  using users = await openUsersForCommand(config, { busyTimeout });
  const { name, channel, fingerprint } = await withCommandAudit(config, null, event, (audit) =>
    users
      .transaction(() => {
        const key = change(users);
        const detail = { channel: key.channel, fingerprint: key.fingerprint };
        audit.stream.must(audit.event({ ...event, detail }));
        return key;
      })
      .immediate(),
  );
  print(options.json, { name, channel, fingerprint }, [name, channel, fingerprint].join('  '));
}
