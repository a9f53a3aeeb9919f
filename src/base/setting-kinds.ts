import { resolve } from 'node:path';
import { z } from 'zod';
import { statIfThere } from './files.ts';

// The kinds of values that settings have.

/** The error for a wrong value: what it must be, and its beginning. Not for secrets. */
export const must = (what: string, explain: (text: string) => string = () => '') => ({
  error: ({ input }: { input?: unknown }) =>
    `must be ${what}, not "${String(input).slice(0, 40)}"${explain(String(input))}`,
});
export const wrongEntry = {
  error: ({ input }: { input?: unknown }) => `has an invalid entry: "${String(input).slice(0, 64)}"`,
};

export const filled = z.string().refine((text) => text.trim() !== '', 'is set but empty');
export const choice = <const Names extends readonly string[]>(names: Names, what: string) =>
  filled.pipe(z.enum(names, must(what)));
export const onOff = filled.pipe(z.stringbool({ truthy: ['on'], falsy: ['off'], ...must('on or off') }));
export const whole = (least: number, most: number, explain?: (text: string) => string) =>
  filled.pipe(
    z
      .string()
      .refine(
        (text) => /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most,
        must(`a number from ${least} to ${most}`, explain),
      )
      .transform(Number),
  );
/** A path to an existing file or folder. A missing permission is reported as such (rule D44.4). */
const leadsTo = (what: 'file' | 'folder' | 'file or folder') =>
  filled.check((context) => {
    try {
      const stat = statIfThere(context.value);
      if ((what !== 'folder' && stat?.isFile()) || (what !== 'file' && stat?.isDirectory())) return;
      context.issues.push({
        code: 'custom',
        input: context.value,
        message: `is not a ${what}: ${context.value}`,
      });
    } catch (error) {
      context.issues.push({
        code: 'custom',
        input: context.value,
        message: `is wrong: ${(error as Error).message}`,
      });
    }
  });
export const file = leadsTo('file');
export const folder = leadsTo('folder').transform((path) => resolve(path));
export const fileOrFolder = leadsTo('file or folder');
export const list = <Entry extends z.ZodType<string, string>>(entry: Entry) =>
  z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(entry))
    .default([]);

// Kubernetes sets NAME_PORT in every pod for a service of that name.
export const serviceLink = (text: string) =>
  /^(?:tcp|udp|sctp):\/\//.test(text)
    ? '. Kubernetes sets this value for a service named gapstone: set the variable yourself, or set enableServiceLinks: false in the pod'
    : '';

/** Whether a text is an exact origin as browsers send it; `*` is not, because some answers need a token. */
export function isOrigin(entry: string): boolean {
  if (!/^https?:\/\/[^/?#\\\s*]+$/i.test(entry) || !URL.canParse(entry)) return false;
  const { username, password } = new URL(entry);
  return username === '' && password === '';
}

/** Whether a text is the address of an endpoint over TLS; on this machine plain HTTP will do. */
export function isEndpoint(text: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
  return (protocol === 'https:' || isHere) && username === '' && password === '' && hash === '';
}
