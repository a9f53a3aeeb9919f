import { deriveControls } from '../../importers/controls/derive.ts';
import { type Config, readConfig } from '../config.ts';
import { compareFrameworks, frameworkKey } from '../crosswalk/frameworks.ts';
import { type MappingStatus, statuses } from '../crosswalk/graph.ts';
import { canonicalIdentifier, sortKey } from '../crosswalk/identifier.ts';
import type { Database } from '../db/database.ts';
import { openUpgraded } from '../db/upgrade.ts';
import { CommandError } from '../errors.ts';
import { compareCodePoints } from '../text.ts';
import { auditedCommand, auditMigration } from './audit.ts';
import { type Command, expectPositionals, parse, required, tell } from './command.ts';

const busyTimeout = 30_000;

export const mappingCommand: Command = {
  name: 'mapping',
  summary: "set or list an operator's decisions about pairs of the crosswalk",
  usage:
    'gapstone mapping set --from A --to B --status verified|auto|rejected --reason TEXT [--db FILE]\n' +
    'gapstone mapping list [--json] [--db FILE]',
  help: [
    '--from A, --to B  the pair, each as <framework>:<identifier>',
    '--status S        verified, auto or rejected',
    '--reason TEXT     why; kept with the decision',
  ],
  async run(args) {
    const { values, positionals } = parse(args, {
      from: { type: 'string' },
      to: { type: 'string' },
      status: { type: 'string' },
      reason: { type: 'string' },
    });
    const [action, ...rest] = positionals;
    expectPositionals(rest, []);
    if (action !== 'set' && action !== 'list')
      throw new CommandError('the mapping commands are "set" and "list"', 2);
    const decision = action === 'set' ? readDecision(values) : null;
    const config = readConfig({ db: values.db });
    const onMigrate = auditMigration(config);
    const db = await openUpgraded(config.db, { busyTimeout, say: tell, onMigrate });
    try {
      if (decision) await auditedDecision(config, db, decision);
      else printDecisions(db, values.json ?? false);
      return 0;
    } finally {
      db.close();
    }
  },
};

interface End {
  framework: string;
  identifier: string;
}

interface Decision {
  ends: [End, End];
  status: MappingStatus;
  reason: string;
}

type Values = {
  from?: string | undefined;
  to?: string | undefined;
  status?: string | undefined;
  reason?: string | undefined;
};

function readDecision(values: Values): Decision {
  const status = statuses.find((each) => each === values.status);
  if (!status) throw new CommandError(`--status must be one of: ${statuses.join(', ')}`, 2);
  const reason = required(values.reason, 'reason').trim();
  if (reason === '' || reason.length > 2000)
    throw new CommandError('--reason must have 1 to 2000 characters', 2);
  const ends = [readEnd(values.from, 'from'), readEnd(values.to, 'to')] as [End, End];
  ends.sort(
    (a, b) =>
      compareFrameworks(a.framework, b.framework) ||
      compareCodePoints(sortKey(a.framework, a.identifier), sortKey(b.framework, b.identifier)),
  );
  return { ends, status, reason };
}

function readEnd(value: string | undefined, name: string): End {
  const text = required(value, name);
  const colon = text.indexOf(':');
  const framework = frameworkKey(text.slice(0, Math.max(0, colon)));
  const given = text.slice(colon + 1).trim();
  if (framework === '' || given === '') {
    throw new CommandError(`--${name} must be <framework>:<identifier>, not "${text.slice(0, 64)}"`, 2);
  }
  const identifier = canonicalIdentifier(framework, given);
  if (identifier === null) {
    throw new CommandError(`--${name}: "${given.slice(0, 64)}" is no identifier of ${framework}`, 2);
  }
  return { framework, identifier };
}

function auditedDecision(config: Config, db: Database, decision: Decision): Promise<void> {
  const [from, to] = decision.ends.map(({ framework, identifier }) => `${framework}:${identifier}`);
  const { status, reason } = decision;
  const detail = { status, why: reason };
  const deed = { action: 'mapping.set', objectType: 'mapping', objectId: `${from} ${to}`, detail };
  return auditedCommand(config, db, deed, () => setDecision(db, decision));
}

/** Stores a decision about a pair that some source states, and rebuilds the crosswalk in the same transaction. */
function setDecision(db: Database, { ends: [a, b], status, reason }: Decision): Promise<void> {
  return db.write(() => {
    if (!isStated(db, a, b)) {
      throw new CommandError(
        `no imported source relates ${a.framework}:${a.identifier} and ${b.framework}:${b.identifier}`,
      );
    }
    db.sqlite
      .prepare(
        `INSERT INTO mapping_decisions VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET status = excluded.status, reason = excluded.reason, decided_at = excluded.decided_at`,
      )
      .run(a.framework, a.identifier, b.framework, b.identifier, status, reason, new Date().toISOString());
    deriveControls(db);
    db.sqlite
      .prepare('UPDATE catalog SET generation = generation + 1, changed_at = ?')
      .run(new Date().toISOString());
  });
}

const edgeOf = `SELECT e.status FROM crosswalk_edges AS e
  JOIN crosswalk_nodes AS a ON a.id = e.a JOIN crosswalk_nodes AS b ON b.id = e.b
 WHERE a.framework = ? AND a.identifier = ? AND b.framework = ? AND b.identifier = ?`;

function isStated(db: Database, a: End, b: End): boolean {
  return db.sqlite.prepare(edgeOf).get(a.framework, a.identifier, b.framework, b.identifier) !== undefined;
}

interface Row {
  a_framework: string;
  a_identifier: string;
  b_framework: string;
  b_identifier: string;
  status: MappingStatus;
  reason: string;
  decided_at: string;
}

function printDecisions(db: Database, json: boolean): void {
  const rows = db.sqlite
    .prepare<[], Row>('SELECT * FROM mapping_decisions ORDER BY decided_at, a_identifier, b_identifier')
    .all();
  for (const row of rows) {
    const from = { framework: row.a_framework, identifier: row.a_identifier };
    const to = { framework: row.b_framework, identifier: row.b_identifier };
    const line = {
      from: `${from.framework}:${from.identifier}`,
      to: `${to.framework}:${to.identifier}`,
      status: row.status,
      reason: row.reason,
      decidedAt: row.decided_at,
      // A decision outlives the source that stated its pair; then it decides nothing until one states it again.
      stale: !isStated(db, from, to),
    };
    process.stdout.write(
      json
        ? `${JSON.stringify(line)}\n`
        : `${line.decidedAt}  ${line.from}  ${line.to}  ${line.status}${line.stale ? '  STALE' : ''}  ${line.reason}\n`,
    );
  }
}
