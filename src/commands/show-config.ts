import {
  type Config,
  configWarnings,
  environment,
  readConfig,
  type ShownSetting,
  shownSettings,
} from '../base/config.ts';

import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { readSettingsFile, settingsFile } from '../base/installation.ts';
import { count, printable } from '../base/text.ts';
import { command, hostOption, portOption, print, serverSettings, tell } from './command.ts';

export const configCommand = () =>
  command('config', 'print the settings that count, and where each comes from; secrets are left out', {
    settings: serverSettings,
    exitCodes: [
      ['1', 'the configuration is wrong; one line on standard error says why'],
      ['2', 'wrong usage'],
    ],
    notes: [
      'Options come first, then the environment, then gapstone.env: the folder above the program has it, /etc/gapstone where the rpm is installed. It is read as systemd reads an EnvironmentFile. Only names that begin with GAPSTONE_ count, values need no quotes.',
    ],
    examples: ['gapstone config', 'GAPSTONE_PORT=8443 gapstone config --json'],
  })
    .addOption(hostOption)
    .addOption(portOption)
    .action((options) => {
      const others: string[] = [];
      const file = configured(() => readSettingsFile((name) => others.push(name)));
      const env = environment(file);
      const config = configured(() => readConfig(options, env));
      const settings = shownSettings(config, options, file);
      print(options.json, { file: settingsFile, settings }, [
        `${settingsFile}: ${isThere(settingsFile) ? count(Object.keys(file).length, 'setting') : 'no such file'}`,
        ...settings.map(lineOf),
      ]);
      const ignored = printable(others.join(', '), 200);
      if (ignored !== '') tell(`warning: names that do not begin with GAPSTONE_ are ignored: ${ignored}`);
      for (const { msg, fields } of configWarnings(config, env))
        tell(`warning: ${[msg, fields.names?.join(', ')].filter(Boolean).join(': ')}`);
    });

/** A wrong configuration is what this command is for: it exits with 1 (rule D44.2). */
function configured<T extends Config | Record<string, string>>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof CommandError ? new CommandError(error.message, 1) : error;
  }
}

function lineOf({ name, value, from }: ShownSetting): string {
  const secret = name === 'GAPSTONE_CRON_SECRET' && from !== 'default' ? '(set)' : '-';
  return `${from.padEnd(11)}  ${name}=${value ?? secret}`;
}
