import { randomUUID } from 'node:crypto';
import { Option } from '@commander-js/extra-typings';
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
import { command, group, print } from './command.ts';

const createCommand = () =>
  command('create', 'create one, for all who may see it', {
    settings: ['auditFile', 'auditFailure'],
    examples: ["gapstone collection create --kind role --name 'Our team' --owner ann --item 15-1244.00"],
  })
    .addOption(
      new Option('--kind <kind>', 'regdoc (documents) or role (occupations)')
        .choices(['regdoc', 'role'])
        .makeOptionMandatory(),
    )
    .requiredOption('--owner <subject>', 'the subject who owns the collection', name('owner'))
    .option('--org <organization>', 'the organization that can see it if it is SHARED', name('org'))
    .option('--email <address>', 'the e-mail address of the owner', name('email'))
    .option('--name <name>', 'the name of the collection')
    .option('--description <text>', 'what it is for')
    .option('--tag <tag...>', 'a tag; may be repeated')
    .option('--color <#rrggbb>', 'a color, such as #2a6fdb')
    .option('--visibility <visibility>', 'PRIVATE (default) or SHARED')
    .requiredOption('--item <id...>', 'a document id or an occupation code; more may follow')
    .action(
      async ({ kind, owner: subject, org: organization = null, email = null, item: items, ...options }) => {
        const owner: User = {
          kind: 'user',
          subject,
          email,
          organization,
          entitlements: new Set(),
          expiresAt: 0,
        };
        const { name, description, tag: tags, color, visibility } = options;
        const fields = createCollectionBody.safeParse({ name, description, tags, color, visibility });
        if (!fields.success) throw new CommandError(fields.error.issues[0]!.message, 2);
        if (fields.data.visibility === 'SHARED' && organization === null)
          throw new CommandError('--visibility SHARED needs --org: give the organization that may see it', 2);
        const config = readConfig(options);
        using db = openDatabase(config);
        const make = kind === 'regdoc' ? createDocumentCollectionService : createRoleCollectionService;
        const service = make(db, () => new Date(), randomUUID);
        const objectType = `${kind}-collection`;
        const detail = { owner: subject, items: items.length, visibility: fields.data.visibility };
        const event = { action: `${objectType}.create`, objectType, org: organization, detail };
        const id = await auditedCommand(config, db, event, async () => {
          try {
            return await service.create(owner, fields.data, items);
          } catch (error) {
            throw error instanceof AppError ? new CommandError(error.message) : error;
          }
        });
        print(options.json, { id }, id);
      },
    );

const name = (option: string) => (text: string) => requireName(option, text);

export const collectionCommand = () =>
  group('collection', 'create a collection of regulatory documents or of roles', [createCommand()]);
