import { z } from '@hono/zod-openapi';
import { badRequest } from '../../base/errors.ts';
import { cut, fold, isVisible, printable } from '../../base/text.ts';
import { boundedArray } from '../../http/arrays.ts';
import { notAnObject, pointerTo, requestText } from '../../http/schema.ts';
import { checklistTarget } from './cklb-schema.ts';
import type { StigNameIndex } from './name-index.ts';

/** The most hosts of one table (rule D28.2). */
export const maxHosts = 500;

/** The slug of the STIG that a name means among some; null for none or several. */
export type StigAmong = (name: string) => string | null;

/**
 * Finds STIGs among those of a list, or those that a command names, by slug, benchmark id or title (rule D36.5). A name
 * may end in the release that counts. Each name is looked up once: hosts repeat them.
 */
export function stigsAmong(
  names: Pick<StigNameIndex, 'slugOf' | 'exactly'>,
  stigs: { slug: string; release: { version: string } | null }[],
): StigAmong {
  const among = new Map(stigs.map(({ slug, release }) => [slug, release?.version]));
  const known = new Map<string, string | null>();
  function find(name: string): string | null {
    const slug = names.slugOf(name.trim());
    if (among.has(slug)) return slug;
    const found = names
      .exactly(name)
      .filter(({ slug, release }) => among.has(slug) && (release === null || release === among.get(slug)));
    return found.length === 1 ? found[0]!.slug : null;
  }
  return (name) => {
    if (!known.has(name)) known.set(name, find(name));
    return known.get(name)!;
  };
}

/** RFC 1123: labels of letters, digits and hyphens. */
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const hostNames = new RegExp(`^(?=.{1,253}$)${label}(?:\\.${label})*$`, 'i');
const qualifiedNames = new RegExp(`^(?=.{1,254}$)${label}(?:\\.${label})+\\.?$`, 'i');
const macAddresses =
  /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}|[0-9a-f]{12})$/i;

const address = z.union([z.ipv4(), z.ipv6()]);

/** A text of 255 characters at most; what is given must be of a form. */
const formed = (name: string, isGood: (text: string) => boolean, what: string) =>
  requestText(name, 255)
    .refine((text) => text === '' || isGood(text), { error: `${name} must be ${what}` })
    .optional();

/** A host to make checklists for (rule D36.5): STIG Manager refuses a checklist without a host name. */
const checklistHost = z.object(
  {
    hostName: requestText('hostName', 255)
      .refine((name) => name.trim() !== '', { error: 'hostName must not be empty' })
      .refine((name) => !/\p{Cc}/u.test(name), { error: 'hostName must not contain control characters' })
      .openapi({ minLength: 1 }),
    ipAddress: formed('ipAddress', (text) => address.safeParse(text).success, 'an IPv4 or IPv6 address'),
    macAddress: formed(
      'macAddress',
      (text) => macAddresses.test(text),
      'a MAC address, such as 00:15:5d:0e:92:0c',
    ),
    fqdn: formed(
      'fqdn',
      (text) => qualifiedNames.test(text),
      'a fully qualified name, such as web01.example.org',
    ),
    role: checklistTarget.shape.role,
    stigs: boundedArray(requestText('stigs', 1000), 'stigs', 'slugs', { least: 1, most: 5000 })
      .optional()
      .openapi({ description: 'Those of the STIGs that the host gets; all of them without it.' }),
  },
  { error: 'a host must be an object with hostName' },
);
export type ChecklistHost = z.infer<typeof checklistHost>;

/** A warning for each host whose name is not one by RFC 1123: network devices have such names, and people mistype. */
export function unusualNames(hosts: Pick<ChecklistHost, 'hostName'>[]): string[] {
  return hosts
    .filter(({ hostName }) => !hostNames.test(hostName))
    .map(({ hostName }) => `${printable(hostName, 64)} is not a host name by RFC 1123`);
}

/** The key by which a host comes twice: its name, in any case. */
const keyOfHost = ({ hostName }: Pick<ChecklistHost, 'hostName'>): string => fold(hostName.trim());

/** The host with its STIGs by slug, each once; or the name of one that `among` lacks. */
export function withSlugs(
  host: ChecklistHost,
  among: StigAmong,
): { host: ChecklistHost } | { lacking: string } {
  if (host.stigs === undefined) return { host };
  const slugs = host.stigs.map(among);
  const lacking = slugs.indexOf(null);
  if (lacking >= 0) return { lacking: host.stigs[lacking]! };
  return { host: { ...host, stigs: [...new Set(slugs as string[])] } };
}

/** The hosts of a body with their STIGs by slug. Throws 400 for a STIG that is none of those that they may have. */
export function requireSlugs(hosts: ChecklistHost[], among: StigAmong): ChecklistHost[] {
  return hosts.map((host, index) => {
    const read = withSlugs(host, among);
    if ('host' in read) return read.host;
    const place = `hosts: host ${index + 1} (${printable(host.hostName, 64)})`;
    const at = host.stigs!.indexOf(read.lacking);
    throw badRequest(
      `${place}: the list has no STIG ${cut(read.lacking)}`,
      pointerTo(['hosts', index, 'stigs', at]),
    );
  });
}

/** A host, or the field and its rule that it breaks. */
type ReadHost = { host: ChecklistHost } | { path: PropertyKey[]; problem: string };

/**
 * Reads a host: it, or the field and its rule that it breaks; `place` says which host, and its name is added. `seen` has
 * the keys of those before it.
 */
export function readHost(place: string, given: unknown, seen: Set<string>): ReadHost {
  const read = checklistHost.safeParse(given);
  const { hostName } = Object(given);
  const named = typeof hostName === 'string' && isVisible(hostName) ? ` (${printable(hostName, 64)})` : '';
  const twice = { path: ['hostName'], message: 'the host is listed twice' };
  const issue = read.success ? seen.has(keyOfHost(read.data)) && twice : read.error.issues[0]!;
  if (issue) return { path: issue.path, problem: `${place}${named}: ${issue.message}` };
  seen.add(keyOfHost(read.data!));
  return { host: read.data! };
}

/** The hosts of a body: a wrong one, and one that comes twice, is named by its number and its name. */
export const hostsOf = (least: 0 | 1) =>
  z
    .preprocess(
      (given, context) => {
        if (!Array.isArray(given) || given.length > maxHosts) return given;
        const seen = new Set<string>();
        for (const [index, each] of given.entries()) {
          const place = `hosts: host ${index + 1}`;
          const read = readHost(place, each, seen);
          if ('host' in read) continue;
          context.addIssue({ code: 'custom', path: [index, ...read.path], message: read.problem });
          return z.NEVER;
        }
        return given;
      },
      boundedArray(checklistHost, 'hosts', 'hosts', { least, most: maxHosts }),
    )
    .openapi({ example: [{ hostName: 'web01', ipAddress: '10.0.0.11' }] });

/** The whole table of hosts of a list; an empty one removes it (rule D36.6). */
export const listHostsBody = z.object({ hosts: hostsOf(0) }, notAnObject);
