import type { LogLevel } from './config.ts';

const levels: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };

/** Writes one JSON object a line on stdout; times are UTC with milliseconds. */
export interface Log {
  debug(msg: string, fields?: Record<string, unknown>): void;
  info(msg: string, fields?: Record<string, unknown>): void;
  warn(msg: string, fields?: Record<string, unknown>): void;
  error(msg: string, fields?: Record<string, unknown>): void;
}

/** A log of the given level and above; `write` takes whole lines. */
export function createLog(
  level: LogLevel,
  write: (line: string) => void = (line) => process.stdout.write(line),
): Log {
  const at =
    (name: LogLevel) =>
    (msg: string, fields: Record<string, unknown> = {}) => {
      if (levels[name] < levels[level]) return;
      write(`${JSON.stringify({ time: new Date().toISOString(), level: name, msg, ...fields })}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A log that keeps silent, for tests and commands. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
