import { join } from 'node:path';
import { type Flags, readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { packageRoot } from '../base/root.ts';
import { count } from '../base/text.ts';
import { toCklb } from '../catalog/stigs/cklb-writer.ts';
import { createStigService } from '../catalog/stigs/queries.ts';
import { answerChecklist, readAnswers } from '../checklists/assessor-answers.ts';
import { print, tell, textOf } from './command.ts';
import { openToLook } from './open-to-look.ts';

export const ourStig = 'application_security_and_development';
const ourAnswers = join(packageRoot, 'data', 'assessment', `${ourStig}.csv`);

export interface SelfAssessment extends Flags {
  stig?: string;
  version?: string;
  answers?: string;
  hostName?: string;
}

/**
 * Prints a checklist (cklb) for an imported STIG, filled in from a table of answers: by default what Gapstone answers for
 * itself. Throws `CommandError`.
 */
export function printSelfAssessment(options: SelfAssessment): void {
  const file = options.answers ?? ourAnswers;
  const answers = readAnswers(textOf(file), file);
  using db = openToLook(readConfig(options));
  try {
    const full = createStigService(db).full(options.stig ?? ourStig, options.version);
    const checklist = toCklb(full, { hostName: options.hostName ?? 'gapstone' });
    const { unanswered, unknown } = answerChecklist(checklist, answers);
    print(false, checklist, JSON.stringify(checklist, null, 2).split('\n'));
    const answered = `${answers.size - unknown.length} of ${count(full.findings.length, 'rule')} answered`;
    tell(`${full.release.title} ${full.release.version}: ${answered}`);
    if (unanswered.length > 0) tell(`without an answer: ${unanswered.join(', ')}`);
    if (unknown.length > 0) tell(`answers for rules that the STIG lacks: ${unknown.join(', ')}`);
  } catch (error) {
    if (error instanceof AppError) throw new CommandError(`${error.message}: import it first`);
    throw error;
  }
}
