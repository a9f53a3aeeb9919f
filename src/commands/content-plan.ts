import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken, publishNew, realFile } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { programFolder } from '../base/root.ts';
import { escaped } from '../base/text.ts';
import { type Plan, planBundle } from '../content/plan.ts';
import { type PlanSection, planHeading, planSections, totals } from '../content/plan-words.ts';
import { readBundle } from '../content/read-bundle.ts';
import { trustedKeys } from '../content/trust.ts';
import { asCopyError } from '../db/copy.ts';
import { contentPlanPage } from '../pages/content/plan-page.tsx';
import { flag, parse, print, tell, text } from './command.ts';

/** The text shows at most so many lines of a kind; JSON and the page show all. */
const mostLines = 20;

export const planCommand = {
  usage: 'gapstone content plan BUNDLE [--all] [--html FILE] [--db FILE] [--users-db FILE] [--json]',
  help: [
    `plan: --all            every line, not ${mostLines} of a kind`,
    '      --html FILE      also as one HTML file; it must not exist yet',
  ],
  async run(args: string[]) {
    const { values, positionals } = parse(args, ['BUNDLE'], { html: text, all: flag });
    const [file] = positionals as [string];
    const config = readConfig(values);
    requireFolder(config.db);
    if (values.html !== undefined && isTaken(values.html))
      throw new CommandError(`${values.html} already exists: choose another name`);
    const plan = await inPrivateFolder(`${realFile(config.db)}.plan`, async (temporary) => {
      const keys = trustedKeys(config.usersDb);
      const bundle = await readBundle(file, keys, { now: new Date(), unpackTo: temporary });
      return planBundle(config, bundle, temporary);
    });
    for (const warning of plan.warnings) tell(`warning: ${warning}`);
    const most = values.all ? Number.POSITIVE_INFINITY : mostLines;
    print(values.json, plan, inText(plan, most));
    if (values.html !== undefined) writePage(values.html, plan, config);
    return 0;
  },
};

function inText(plan: Plan, most: number): string[] {
  const refusals = plan.refusals.map((line) => `apply would refuse it: ${line}`);
  const sections = planSections(plan);
  const lines = sections.flatMap((section) => [
    '',
    `${section.title}: ${totals(section)}`,
    ...signed(section).flatMap(([sign, , texts]) => [
      ...texts.slice(0, most).map((each) => `  ${sign} ${each}`),
      ...(texts.length > most ? [`  ${sign} and ${texts.length - most} more`] : []),
    ]),
  ]);
  const nothing = sections.length === 0 ? ['', 'nothing would change'] : [];
  return [planHeading(plan), ...refusals, ...lines, ...nothing];
}

const signed = ({ come, change, go }: PlanSection): [string, string, string[]][] => [
  ['+', 'added', come],
  ['~', 'changed', change],
  ['-', 'removed', go],
];

function writePage(file: string, plan: Plan, { banner }: Config): void {
  const { bundle, digest, refusals, warnings } = plan;
  const page = contentPlanPage({
    style: readFileSync(join(programFolder, 'pages', 'assets', 'style.css'), 'utf8'),
    ...{ banner, heading: planHeading(plan), refusals, warnings },
    facts: [
      ['Digest of the catalog afterwards', digest],
      ['Bundle', bundle.bundle],
      ['Key', bundle.fingerprint],
    ],
    sections: planSections(plan).map((section) => ({
      title: section.title,
      totals: totals(section),
      lines: signed(section).flatMap(([sign, word, texts]) =>
        texts.map((each): [string, string, string] => [sign, word, each]),
      ),
    })),
  });
  try {
    inPrivateFolder(file, (temporary) => {
      writeFileSync(temporary, escaped(page), { mode: 0o600, flag: 'wx' });
      publishNew(temporary, file);
    });
  } catch (error) {
    throw asCopyError(file, error as NodeJS.ErrnoException);
  }
  tell(`the plan is in ${file}`);
}
