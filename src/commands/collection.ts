import { randomUUID } from 'node:crypto';
import { requireName } from '../auth/tokens.ts';
import type { User } from '../auth/viewer.ts';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from '../collections/catalog-collections.ts';
import { createCollectionBody } from '../collections/schema.ts';
import { openDatabase } from '../db/database.ts';
import { auditedCommand } from './audit.ts';
import {
  type Command,
  expectPositionals,
  parse,
  print,
  required,
  text,
  texts,
  wrongAction,
} from './command.ts';

export const collectionCommand: Command = {
  name: 'collection',
  summary: 'create a collection of regulatory documents or of roles',
  usage: `gapstone collection create --kind regdoc|role --name N --owner SUB --item ID... [--org O] [--email E]
  [--description T] [--tag T]... [--color #RRGGBB] [--visibility PRIVATE|SHARED] [--db FILE] [--users-db FILE] [--json]`,
  help: [
    '--kind K         regdoc (documents) or role (occupations)',
    '--name N         the name of the collection',
    '--owner SUB      the subject who owns the collection',
    '--org O          the organization that can see it if it is SHARED',
    '--email E        the e-mail address of the owner',
    '--description T  what it is for',
    '--tag T          a tag; may be repeated',
    '--color C        a color, such as #2a6fdb',
    '--visibility V   PRIVATE (default) or SHARED',
    '--item ID        a document id or an occupation code; more may follow',
    '--json           print the result as JSON',
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: [
    "gapstone collection create --kind role --name 'Our team' --owner ann \\",
    '  --item 15-1244.00',
  ],
  async run(args) {
    const { values, positionals } = parse(args, null, {
      ...{ kind: text, name: text, owner: text, org: text, email: text, item: texts },
      ...{ description: text, tag: texts, color: text, visibility: text },
    });
    const [action, ...rest] = positionals;
    if (action !== 'create') throw wrongAction('collection', action, ['create']);
    // More arguments after `--item A` are items too: `--item A B C`.
    if (values.item === undefined) expectPositionals(rest, []);
    const items = [...(values.item ?? []), ...rest];
    if (items.length === 0) throw new CommandError('--item must be given', 2);
    const kind = required(values.kind, 'kind');
    if (kind !== 'regdoc' && kind !== 'role')
      throw new CommandError(`--kind must be regdoc or role, not "${kind.slice(0, 64)}"`, 2);
    const owner: User = {
      kind: 'user',
      subject: requireName('owner', required(values.owner, 'owner')),
      email: values.email === undefined ? null : requireName('email', values.email),
      organization: values.org === undefined ? null : requireName('org', values.org),
      entitlements: new Set(),
      expiresAt: 0,
    };
    const { name, description, tag, color, visibility } = values;
    const fields = createCollectionBody.safeParse({ name, description, tags: tag, color, visibility });
    if (!fields.success) throw new CommandError(fields.error.issues[0]!.message, 2);
    if (fields.data.visibility === 'SHARED' && owner.organization === null)
      throw new CommandError('--visibility SHARED needs --org: give the organization that may see it', 2);
    const config = readConfig(values);
    using db = openDatabase(config);
    const make = kind === 'regdoc' ? createDocumentCollectionService : createRoleCollectionService;
    const service = make(db, () => new Date(), randomUUID);
    const objectType = `${kind}-collection`;
    const detail = { owner: owner.subject, items: items.length, visibility: fields.data.visibility };
    const event = { action: `${objectType}.create`, objectType, org: owner.organization, detail };
    const id = await auditedCommand(config, db, event, async () => {
      try {
        return await service.create(owner, fields.data, items);
      } catch (error) {
        throw error instanceof AppError ? new CommandError(error.message) : error;
      }
    });
    print(values.json, { id }, id);
    return 0;
  },
};
