import { badRequest } from '../base/errors.ts';

/** What a request asks for: the host, and the path with its query as the router reads it. */
export interface Target {
  host: string;
  path: string;
}

/** A path and query that URL parsing leaves unchanged, unless a segment begins with a dot. */
const plainPath = /^\/[\w!$&()*+,;=:@%~./-]*(?:\?[\w!$&()*+,;=:@%~./?-]+)?$/;
const dottedSegment = /\/(?:\.|%2e)/i;
const hostAndPort = /^(?:[A-Za-z0-9_][\w.-]*|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/;
const absoluteTarget = /^https?:\/\/([^/?]*)(.*)$/i;
const longestHost = 255 + ':65535'.length;

/**
 * Reads the target and the Host of a request; null for an invalid one. A target is a path, or an absolute URL, whose
 * host then counts (RFC 9112 3.2). The router, the Host check and the same-origin check all use what this gives.
 */
export function readTarget(target: string, host: string | undefined, version: string): Target | null {
  // Load balancers send health checks in HTTP/1.0, which needs no Host.
  if (host === undefined ? version !== '1.0' : !isHost(host)) return null;
  const [, named, rest = ''] = (target.startsWith('/') ? null : absoluteTarget.exec(target)) ?? [];
  if (named !== undefined && !isHost(named)) return null;
  const asked = {
    host: named ?? host ?? 'localhost',
    path: named === undefined ? target : rest.replace(/^(?!\/)/, '/'),
  };
  if (plainPath.test(asked.path) && !dottedSegment.test(asked.path)) return asked;
  // RFC 3986 forbids `#` and `\` in a path or query; `URL` would cut at the first and turn the second into a slash.
  if (!/^\/[\x21-\x7e]*$/.test(asked.path) || /[#\\]/.test(asked.path)) return null;
  const { pathname, search } = new URL(`http://localhost${asked.path}`);
  return { ...asked, path: pathname + search };
}

/** The last valid host: most requests name the same. */
let lastHost = '';

function isHost(text: string): boolean {
  if (text === lastHost) return true;
  const [, port = '0'] = hostAndPort.exec(text) ?? [null, '99999'];
  // `URL` rejects what the pattern accepts but is no address, as [::::] or 1.2.3.999.
  const isOne = text.length <= longestHost && Number(port) <= 65_535 && URL.canParse(`http://${text}/`);
  if (isOne) lastHost = text;
  return isOne;
}

/** A URL, decoded. Throws a 400 for malformed percent-encoding, which Hono would pass on, and for a NUL character. */
export function decodedUrl(url: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(url);
  } catch {
    throw badRequest('The URL contains a malformed percent-encoding');
  }
  if (decoded.includes('\0')) throw badRequest('The URL contains a NUL character');
  return decoded;
}
