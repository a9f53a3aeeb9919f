import { Option } from '@commander-js/extra-typings';
import { type Flags, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { frameworkKey } from '../catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../catalog/controls/identifier.ts';
import { createMappingDecisions, type MappingDecisions } from '../catalog/crosswalk/decisions.ts';
import { type GraphNode, inOrder, nameOf, statuses } from '../catalog/crosswalk/graph.ts';
import { auditedCommand, openForCommand } from './audit.ts';
import { command, group, print } from './command.ts';

const busyTimeout = 30_000;
const about = { settings: ['auditFile', 'auditFailure'] } as const;

/** A command with the two ends of a mapping. */
const pairCommand = (name: string, summary: string, more: Parameters<typeof command>[2] = {}) =>
  command(name, summary, { ...about, ...more })
    .requiredOption('--from <control>', 'a control, as <framework>:<identifier>', (text: string) =>
      readEnd('from', text),
    )
    .requiredOption('--to <control>', 'a control of another framework', (text: string) =>
      readEnd('to', text),
    );

const setCommand = () =>
  pairCommand('set', 'decide about a mapping', {
    notes: [
      'A pair that no source maps is added as a mapping of this site. A request for a version ignores it.',
    ],
    examples: [
      "gapstone mapping set --from nist-800-171:3.1.1 --to nist-800-53:AC-17 --status rejected --reason 'not in scope'",
    ],
  })
    .addOption(
      new Option('--status <status>', 'verified, auto or rejected').choices(statuses).makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'why; stored with the decision')
    .action((options) => {
      const { status } = options;
      const reason = options.reason.trim();
      if (reason === '' || reason.length > 2000)
        throw new CommandError('--reason must have 1 to 2000 characters', 2);
      return decide(options, 'set', { status, why: reason }, (decisions, ends) => {
        for (const end of ends) requireActive(decisions, end);
        decisions.set(ends, { status, reason, decidedAt: new Date().toISOString() });
      });
    });

const removeCommand = () =>
  pairCommand('remove', 'delete a decision: a pair from a source gets the status of its source again').action(
    (options) =>
      decide(options, 'remove', null, (decisions, ends) => {
        if (!decisions.remove(ends))
          throw new CommandError(`there is no decision about ${ends.map(nameOf).join(' and ')}`);
      }),
  );

const listCommand = () =>
  command('list', 'list the decisions', {
    notes: [
      'OWN: no source maps the pair. STALE: the decision has no effect, because one control is no longer an active control of an imported catalog.',
    ],
  }).action(async (options) => {
    using db = await openForCommand(readConfig(options), { busyTimeout });
    for (const { ends, status, reason, decidedAt, own, stale } of createMappingDecisions(db).all()) {
      const [from, to] = ends.map(nameOf);
      const marks = [own ? ['OWN'] : [], stale ? ['STALE'] : []].flat();
      const line = [decidedAt, from, to, status, ...marks, reason].join('  ');
      print(options.json, { from, to, status, reason, decidedAt, own, stale }, line);
    }
  });

export const mappingCommand = () =>
  group('mapping', "set, remove or list an operator's decisions about mappings in the crosswalk", [
    setCommand(),
    removeCommand(),
    listCommand(),
  ]);

/** Changes the decision about a pair, and audits it in the same transaction. Throws `CommandError`. */
async function decide(
  { from, to, ...options }: Flags & { from: GraphNode; to: GraphNode },
  action: string,
  detail: { status: string; why: string } | null,
  change: (decisions: MappingDecisions, ends: [GraphNode, GraphNode]) => void,
): Promise<void> {
  const ends = inOrder(from, to);
  if (from.framework === to.framework)
    throw new CommandError(
      `--from and --to must be of different frameworks; both are of ${cut(from.framework)}`,
      2,
    );
  const config = readConfig(options);
  using db = await openForCommand(config, { busyTimeout });
  const decisions = createMappingDecisions(db);
  const event = {
    action: `mapping.${action}`,
    objectType: 'mapping',
    objectId: ends.map(nameOf).join(' '),
    ...(detail && { detail }),
  };
  await auditedCommand(config, db, event, () => db.write(() => change(decisions, ends)));
}

/** Reads `<framework>:<identifier>`. Throws `CommandError`. */
function readEnd(name: string, text: string): GraphNode {
  const colon = text.indexOf(':');
  const framework = frameworkKey(text.slice(0, Math.max(0, colon)));
  const given = text.slice(colon + 1).trim();
  if (framework === '' || given === '')
    throw new CommandError(`--${name} must be <framework>:<identifier>, not "${cut(text)}"`, 2);
  const identifier = canonicalIdentifier(framework, given);
  if (identifier === null)
    throw new CommandError(`--${name}: "${cut(given)}" is not an identifier of ${framework}`, 2);
  return { framework, identifier };
}

/** Throws `CommandError` for a control that is not an active node of the crosswalk. */
function requireActive(decisions: MappingDecisions, end: GraphNode): void {
  const standing = decisions.standing(end);
  if (standing === 'unknown') throw new CommandError(`${cut(nameOf(end))} is not in an imported catalog`);
  if (standing === 'withdrawn') throw new CommandError(`${cut(nameOf(end))} is withdrawn`);
}
