import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken, publishNew, realFile } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { programFolder } from '../base/root.ts';
import { escaped } from '../base/text.ts';
import { type Plan, planBundle } from '../content/plan.ts';
import { planHeading, planSections, signed, totals } from '../content/plan-words.ts';
import { readBundle } from '../content/read-bundle.ts';
import { trustedKeys } from '../content/trust.ts';
import { asCopyError } from '../db/copy.ts';
import { contentPlanPage } from '../pages/content/plan-page.tsx';
import { command, print, tell } from './command.ts';

/** The text shows at most so many lines of a kind; JSON and the page show all. */
const mostLines = 20;

export const planCommand = () =>
  command('plan', 'show what applying a bundle would change', {
    examples: ['gapstone content plan q3.bundle'],
  })
    .argument('<bundle>', 'the bundle; it is verified first')
    .option('--all', `every line, not ${mostLines} of a kind`)
    .option('--html <file>', 'also as one HTML file; it must not exist yet')
    .action(async (file, { all, html, ...options }) => {
      const config = readConfig(options);
      requireFolder(config.db);
      if (html !== undefined && isTaken(html))
        throw new CommandError(`${html} already exists: choose another name`);
      const plan = await inPrivateFolder(`${realFile(config.db)}.plan`, async (temporary) => {
        const keys = trustedKeys(config.usersDb);
        const bundle = await readBundle(file, keys, { now: new Date(), unpackTo: temporary });
        return planBundle(config, bundle, temporary);
      });
      for (const warning of plan.warnings) tell(`warning: ${warning}`);
      print(options.json, plan, inText(plan, all ? Number.POSITIVE_INFINITY : mostLines));
      if (html !== undefined) writePage(html, plan, config);
    });

function inText(plan: Plan, most: number): string[] {
  const refusals = plan.refusals.map((line) => `apply would refuse it: ${line}`);
  const sections = planSections(plan);
  const lines = sections.flatMap((section) => [
    '',
    `${section.title}: ${totals(section)}`,
    ...signed(section).flatMap(({ sign, lines }) => [
      ...lines.slice(0, most).map((line) => `  ${sign} ${line}`),
      ...(lines.length > most ? [`  ${sign} and ${lines.length - most} more`] : []),
    ]),
  ]);
  const nothing = sections.length === 0 ? ['', 'nothing would change'] : [];
  return [planHeading(plan), ...refusals, ...lines, ...nothing];
}

function writePage(file: string, plan: Plan, { banner }: Config): void {
  const { bundle, digest, refusals, warnings } = plan;
  const page = contentPlanPage({
    style: readFileSync(join(programFolder, 'pages', 'assets', 'style.css'), 'utf8'),
    banner,
    heading: planHeading(plan),
    refusals,
    warnings,
    facts: [
      ['Digest of the catalog afterwards', digest],
      ['Bundle', bundle.bundle],
      ['Key', bundle.fingerprint],
    ],
    sections: planSections(plan).map((section) => ({
      title: section.title,
      totals: totals(section),
      lines: signed(section).flatMap(({ sign, word, lines }) =>
        lines.map((line): [string, string, string] => [sign, word, line]),
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
