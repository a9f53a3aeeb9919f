import { readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { frameworkKey } from '../catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../catalog/controls/identifier.ts';
import {
  createMappingDecisions,
  type MappingDecision,
  type MappingDecisions,
} from '../catalog/crosswalk/decisions.ts';
import { type GraphNode, inOrder, nameOf, statuses } from '../catalog/crosswalk/graph.ts';
import type { Database } from '../db/database.ts';
import { auditedCommand, openForCommand } from './audit.ts';
import { type Command, expectPositionals, parse, print, required, text, wrongAction } from './command.ts';

const busyTimeout = 30_000;

export const mappingCommand: Command = {
  name: 'mapping',
  summary: "set, remove or list an operator's decisions about mappings in the crosswalk",
  usage:
    'gapstone mapping set --from A --to B --status verified|auto|rejected --reason TEXT [--db FILE] [--users-db FILE]\n' +
    'gapstone mapping remove --from A --to B [--db FILE] [--users-db FILE]\n' +
    'gapstone mapping list [--json] [--db FILE] [--users-db FILE]',
  help: [
    '--from A, --to B  two controls of different frameworks, each as <framework>:<identifier>',
    '--status S        verified, auto or rejected',
    '--reason TEXT     why; stored with the decision',
    'A pair that no source maps is added as a mapping of this site (OWN in the list). A request for a version ignores it.',
    'remove deletes a decision: a pair from a source gets the status of its source again.',
    'STALE: the decision has no effect, because one control is no longer an active control of an imported catalog.',
  ],
  settings: ['auditFile', 'auditFailure'],
  examples: [
    'gapstone mapping set --from nist-800-171:3.1.1 --to nist-800-53:AC-17 \\',
    "  --status rejected --reason 'not in scope here'",
    'gapstone mapping list',
  ],
  async run(args) {
    const { values, positionals } = parse(args, null, { from: text, to: text, status: text, reason: text });
    const [action = '', ...rest] = positionals;
    expectPositionals(rest, []);
    if (!['set', 'remove', 'list'].includes(action))
      throw wrongAction('mapping', action, ['set', 'remove', 'list']);
    const word = action === 'set' ? readWord(values) : null;
    if (action === 'remove' && (values.status !== undefined || values.reason !== undefined))
      throw new CommandError('mapping remove takes --from and --to alone', 2);
    const ends = action === 'list' ? null : readEnds(values);
    const config = readConfig(values);
    using db = await openForCommand(config, { busyTimeout });
    const decisions = createMappingDecisions(db);
    if (ends === null) printDecisions(decisions, values.json ?? false);
    else {
      const detail = word ? { detail: { status: word.status, why: word.reason } } : {};
      const objectId = ends.map(nameOf).join(' ');
      const event = { action: `mapping.${action}`, objectType: 'mapping', objectId, ...detail };
      await auditedCommand(config, db, event, () => decide(db, decisions, ends, word));
    }
    return 0;
  },
};

type Word = Pick<MappingDecision, 'status' | 'reason'>;

type MappingOptions = Partial<Record<'from' | 'to' | 'status' | 'reason', string | undefined>>;

/** Stores a decision, or removes it where `word` is null. */
function decide(db: Database, decisions: MappingDecisions, ends: [GraphNode, GraphNode], word: Word | null) {
  const decidedAt = new Date().toISOString();
  return db.write(() => {
    if (word) {
      for (const end of ends) requireActive(decisions, end);
      decisions.set(ends, { ...word, decidedAt });
    } else if (!decisions.remove(ends)) {
      throw new CommandError(`there is no decision about ${ends.map(nameOf).join(' and ')}`);
    }
  });
}

function readWord(values: MappingOptions): Word {
  const status = statuses.find((each) => each === values.status);
  if (!status) throw new CommandError(`--status must be one of: ${statuses.join(', ')}`, 2);
  const reason = required(values.reason, 'reason').trim();
  if (reason === '' || reason.length > 2000)
    throw new CommandError('--reason must have 1 to 2000 characters', 2);
  return { status, reason };
}

function readEnds(values: MappingOptions): [GraphNode, GraphNode] {
  const ends = inOrder(readEnd(values.from, 'from'), readEnd(values.to, 'to'));
  if (ends[0].framework === ends[1].framework)
    throw new CommandError(
      `--from and --to must be of different frameworks; both are of ${cut(ends[0].framework)}`,
      2,
    );
  return ends;
}

function readEnd(value: string | undefined, name: string): GraphNode {
  const text = required(value, name);
  const colon = text.indexOf(':');
  const framework = frameworkKey(text.slice(0, Math.max(0, colon)));
  const given = text.slice(colon + 1).trim();
  if (framework === '' || given === '') {
    throw new CommandError(`--${name} must be <framework>:<identifier>, not "${cut(text)}"`, 2);
  }
  const identifier = canonicalIdentifier(framework, given);
  if (identifier === null) {
    throw new CommandError(`--${name}: "${cut(given)}" is not an identifier of ${framework}`, 2);
  }
  return { framework, identifier };
}

/** Throws `CommandError` for a control that is not an active node of the crosswalk. */
function requireActive(decisions: MappingDecisions, end: GraphNode): void {
  const standing = decisions.standing(end);
  if (standing === 'unknown') throw new CommandError(`${cut(nameOf(end))} is not in an imported catalog`);
  if (standing === 'withdrawn') throw new CommandError(`${cut(nameOf(end))} is withdrawn`);
}

function printDecisions(decisions: MappingDecisions, json: boolean): void {
  for (const { ends, status, reason, decidedAt, own, stale } of decisions.all()) {
    const [from, to] = ends.map(nameOf);
    const marks = [own ? ['OWN'] : [], stale ? ['STALE'] : []].flat();
    const line = [decidedAt, from, to, status, ...marks, reason].join('  ');
    print(json, { from, to, status, reason, decidedAt, own, stale }, line);
  }
}
