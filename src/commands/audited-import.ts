import type { LedgerLine, LedgerSummary } from '../../importers/ledger-lines.ts';
import {
  type ImportOptions,
  type ImportProgress,
  type ImportResult,
  runImport,
} from '../../importers/run.ts';
import type { AuditEvent } from '../audit/event.ts';
import type { Config } from '../base/config.ts';
import { count } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { type CommandAudit, withCommandAudit } from './audit.ts';
import { tell } from './command.ts';

const objectType = 'import';

/**
 * Imports as `runImport` and logs it: the start; inside the transaction each named or found file (archives as one) and
 * the totals; or that nothing was stored, or the failure. A dry run is not audited.
 */
export async function auditedImport(
  config: Config,
  db: Database,
  paths: string[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  if (options.dryRun) return runImport(db, paths, options);
  const failed = { action: 'import.fail', objectType };
  return withCommandAudit(config, null, failed, async (audit) => {
    const strict = options.strict ?? false;
    audit.stream.must(audit.event({ action: 'import.start', objectType, detail: { paths, strict } }));
    const result = await runImport(db, paths, {
      ...options,
      beforeCommit: (lines, summary) => audit.stream.must(...finishEvents(audit, lines, summary)),
    });
    if (!result.stored)
      audit.stream.must(audit.event({ ...failed, detail: totals(result.summary) }, 'STRICT'));
    return result;
  });
}

function finishEvents(audit: CommandAudit, lines: LedgerLine[], summary: LedgerSummary): AuditEvent[] {
  const files = lines.filter((line) => !line.source.includes('!/'));
  return [
    ...files.map(({ source, kind, sha256, outcome, target }) => {
      const detail = { kind, sha256, outcome, target };
      const taken = { action: 'import.source', objectType: 'file', objectId: source, detail };
      return audit.event(taken, outcome === 'rejected' ? 'REJECTED' : undefined);
    }),
    audit.event({ action: 'import.finish', objectType, detail: totals(summary) }),
  ];
}

function totals({ phases: _, ...counts }: LedgerSummary): NonNullable<AuditEvent['detail']> {
  return counts;
}

/** Milliseconds between two lines about the progress of an import. */
const betweenLines = 2000;

/** Gives a function that reports the progress of an import, one line every two seconds. */
export function createProgress(write = tell, now = () => performance.now()) {
  const start = now();
  let last = start;
  return ({ done, found, rules, bytes }: ImportProgress): void => {
    const time = now();
    if (time - last < betweenLines) return;
    last = time;
    const rate = (bytes / 1000 / (time - start)).toFixed(1);
    write(`reading: ${done} of ${count(found, 'source')}, ${count(rules, 'rule')}, ${rate} MB/s`);
  };
}
