import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { isVisibleLine } from '../base/text.ts';
import { channelName, defaultChannel } from '../content/manifest.ts';
import { makeKey, type PublicKey, publicFileOf, readPublicKey } from '../content/signing-keys.ts';
import { createTrust, trustedKeys } from '../content/trust.ts';
import type { Connection } from '../db/connect.ts';
import { openUsersForCommand, withCommandAudit } from './audit.ts';
import { expectPositionals, parse, print, required, text, wrongAction } from './command.ts';

const busyTimeout = 30_000;

export const keygenCommand = {
  usage: 'gapstone content keygen --out FILE [--json]',
  help: ['keygen: --out FILE  the private key to create (mode 0600); its public half is written to FILE.pub'],
  async run(args: string[]) {
    const { values } = parse(args, [], { out: text });
    const file = required(values.out, 'out');
    const { fingerprint } = makeKey(file);
    const made = { privateKey: file, publicKey: publicFileOf(file), fingerprint };
    print(values.json, made, `${fingerprint}  ${made.publicKey}`);
    return 0;
  },
};

export const trustCommand = {
  usage:
    'gapstone content trust add FILE.pub --name NAME [--channel C] [--users-db FILE] [--json]\n' +
    'gapstone content trust list [--users-db FILE] [--json]\n' +
    'gapstone content trust remove NAME [--users-db FILE] [--json]',
  help: [
    'trust: --name NAME  the name of the key at this site',
    `       --channel C  the one channel that the key may sign (${defaultChannel})`,
  ],
  async run(args: string[]) {
    const { values, positionals } = parse(args, null, { name: text, channel: text });
    const [action = '', ...rest] = positionals;
    if (!['add', 'list', 'remove'].includes(action))
      throw wrongAction('content trust', action, ['add', 'list', 'remove']);
    if (action !== 'add' && (values.name !== undefined || values.channel !== undefined))
      throw new CommandError(`trust ${action} takes neither --name nor --channel`, 2);
    expectPositionals(rest, { add: ['FILE.pub'], list: [], remove: ['NAME'] }[action]!);
    const config = readConfig(values);
    if (action === 'list') {
      for (const { publicKey, ...key } of trustedKeys(config.usersDb))
        print(
          values.json,
          { ...key, publicKey },
          [key.name, key.channel, key.fingerprint, key.addedAt].join('  '),
        );
      return 0;
    }
    const [given] = rest as [string];
    const key = action === 'add' ? { ...readTrust(values), ...readPublicKey(given) } : null;
    const { name, channel, fingerprint } = await changeTrust(config, action, key?.name ?? given, (users) => {
      const trust = createTrust(users);
      if (key === null) return trust.remove(given);
      trust.add(key, new Date());
      return key;
    });
    print(values.json, { name, channel, fingerprint }, [name, channel, fingerprint].join('  '));
    return 0;
  },
};

function readTrust(values: { name?: string | undefined; channel?: string | undefined }) {
  const name = required(values.name, 'name').trim();
  if (!/^[^\p{C}]{1,64}$/u.test(name) || !isVisibleLine(name))
    throw new CommandError('--name must have 1 to 64 characters, all of them visible', 2);
  return { name, channel: readChannel(values.channel) };
}

/** The channel of an option. Throws `CommandError` with exit code 2. */
export function readChannel(given: string | undefined): string {
  const read = channelName.safeParse(given ?? defaultChannel);
  if (!read.success) throw new CommandError(`--channel ${read.error.issues[0]!.message}`, 2);
  return read.data;
}

/** Changes the trusted keys and audits it in the same transaction. */
async function changeTrust<T extends PublicKey & { channel: string }>(
  config: ReturnType<typeof readConfig>,
  action: string,
  name: string,
  work: (users: Connection) => T,
): Promise<T> {
  const event = { action: `content.trust-${action}`, objectType: 'content-key', objectId: name };
  using users = await openUsersForCommand(config, { busyTimeout });
  return await withCommandAudit(config, null, event, (audit) =>
    users
      .transaction(() => {
        const key = work(users);
        const { channel, fingerprint } = key;
        audit.stream.must(audit.event({ ...event, detail: { channel, fingerprint } }));
        return key;
      })
      .immediate(),
  );
}
