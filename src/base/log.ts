import type { LogLevel } from './config.ts';
import { isObject } from './json.ts';
import { escapedLine, printable } from './text.ts';

const levels: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 };

/** A log of JSON lines; times are UTC with milliseconds. */
export type Log = ReturnType<typeof createLog>;

/** Field names whose values are never logged (rule S3.1). */
const secretNames = /^(?:authorization|cookie|set-cookie|token|secret|password|email|search|query|body)$/i;

/** A log of the given level and above; `write` receives whole lines. */
export function createLog(
  level: LogLevel,
  write: (line: string) => void = (line) => process.stdout.write(line),
) {
  const isWritten = (name: LogLevel) => levels[name] >= levels[level];
  const json = (name: LogLevel, msg: string, fields: object) =>
    JSON.stringify({ time: new Date().toISOString(), level: name, msg, ...fields });
  const at =
    (name: LogLevel) =>
    (msg: string, fields: Record<string, unknown> = {}): void => {
      if (isWritten(name)) write(`${escapedLine(json(name, redact(msg), safe(fields)))}\n`);
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    /** Writes a line of fields that the caller has redacted. */
    line(name: LogLevel, msg: string, fields: object): void {
      if (isWritten(name)) write(`${json(name, msg, fields)}\n`);
    },
  };
}

export const silentLog: Log = createLog('error', () => undefined);

/** A text with tokens (a JWT begins `eyJ`) and e-mail addresses replaced. */
export function redact(text: string): string {
  return text
    .replace(/eyJ[\w.-]{6,}|gs[iu]_[\w-]{6,}/g, '[token]')
    .replace(/[^\s@"'<>(),;:]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g, '[email]');
}

/** A text of a request for logs and the audit stream: without secrets, on one line, of at most `length` characters. */
export function withoutSecrets(text: string, length: number): string {
  return printable(redact(text.slice(0, length)), length);
}

function safe(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      secretNames.test(name) && each !== null && each !== undefined ? '[redacted]' : clean(each),
    ]),
  );
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map(clean);
  if (isObject(value) && Object.getPrototypeOf(value) === Object.prototype) return safe(value);
  return value;
}
