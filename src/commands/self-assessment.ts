import { join } from 'node:path';
import { readConfig } from '../base/config.ts';
import { AppError, CommandError } from '../base/errors.ts';
import { packageRoot } from '../base/root.ts';
import { count } from '../base/text.ts';
import { toCklb } from '../catalog/stigs/cklb-writer.ts';
import { createStigService } from '../catalog/stigs/queries.ts';
import { answerChecklist, readAnswers } from '../checklists/assessor-answers.ts';
import { type Command, openToLook, parse, print, required, tell, text, textOf } from './command.ts';

const ourStig = 'application_security_and_development';
const ourAnswers = join(packageRoot, 'data', 'assessment', `${ourStig}.csv`);

export const selfAssessmentCommand: Command = {
  name: 'self-assessment',
  summary: 'print a checklist (cklb) for an imported STIG, filled in from a table of answers',
  usage:
    'gapstone self-assessment [--stig SLUG] [--version V] [--answers FILE] [--host-name N] [--db FILE] [--users-db FILE] > FILE.cklb',
  help: [
    `--stig SLUG     the STIG (${ourStig})`,
    '--version V     a retained release, such as V6R4 (the current one)',
    '--answers FILE  CSV with groupId, status, evidence, comment (what Gapstone answers for itself)',
    "--host-name N   the target's name in the checklist (gapstone)",
  ],
  examples: ['gapstone self-assessment > gapstone.cklb'],
  async run(args) {
    const { values } = parse(args, [], { stig: text, version: text, answers: text, 'host-name': text });
    const file = values.answers === undefined ? ourAnswers : required(values.answers, 'answers');
    const answers = readAnswers(textOf(file), file);
    using db = openToLook(readConfig(values));
    try {
      const full = createStigService(db).full(values.stig ?? ourStig, values.version);
      const checklist = toCklb(full, { hostName: values['host-name'] ?? 'gapstone' });
      const { unanswered, unknown } = answerChecklist(checklist, answers);
      print(false, checklist, JSON.stringify(checklist, null, 2).split('\n'));
      const said = `${answers.size - unknown.length} of ${count(full.findings.length, 'rule')} answered`;
      tell(`${full.release.title} ${full.release.version}: ${said}`);
      if (unanswered.length > 0) tell(`without an answer: ${unanswered.join(', ')}`);
      if (unknown.length > 0) tell(`answers for rules that the STIG lacks: ${unknown.join(', ')}`);
      return 0;
    } catch (error) {
      if (error instanceof AppError) throw new CommandError(`${error.message}: import it first`);
      throw error;
    }
  },
};
