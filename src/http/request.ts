/**
 * Headers by lower-case name from `rawHeaders`, repeated ones joined (RFC 9110 5.3): Node would keep only one of some.
 */
export function readHeaders(raw: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    const before = headers.get(name);
    headers.set(name, before === undefined ? raw[at + 1]! : `${before}, ${raw[at + 1]!}`);
  }
  return headers;
}

const special = ['cookie', 'origin', 'transfer-encoding', 'upgrade'];

/** Whether headers, by lower-case name, are those of a request without a body on a kept-alive connection. */
export const isPlain = (headers: ReadonlyMap<string, string>) =>
  (headers.get('content-length') ?? '0') === '0' &&
  (headers.get('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive' &&
  !special.some((name) => headers.has(name));

/** A path and query that URL parsing leaves unchanged, unless a segment begins with a dot. */
const plainTarget = /^\/[\w!$&()*+,;=:@%~./-]*(?:\?[\w!$&()*+,;=:@%~./?-]+)?$/;
const dottedSegment = /\/(?:\.|%2e)/i;
const hostAndPort = /^(?:[A-Za-z0-9_][\w.-]*|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/;
const absoluteTarget = /^https?:\/\/([^/?]*)(.*)$/i;
const longestHost = 255 + ':65535'.length;

/**
 * Path and query of a request, as the router sees them; null for an invalid target (RFC 9112 3.2: a path, or an
 * absolute URL, whose host then counts) or an invalid Host. Nothing else parses a target or a Host.
 */
export function requestTarget(target: string, host: string | undefined, version: string): string | null {
  // Load balancers send health checks in HTTP/1.0, which needs no Host.
  if (host === undefined ? version !== '1.0' : !isHost(host)) return null;
  const absolute = target.startsWith('/') ? null : absoluteTarget.exec(target);
  if (absolute !== null && !isHost(absolute[1]!)) return null;
  const path = absolute === null ? target : absolute[2]!.replace(/^(?!\/)/, '/');
  if (plainTarget.test(path) && !dottedSegment.test(path)) return path;
  // RFC 3986 forbids `#` and `\` in a path or query; `URL` would cut at the first and turn the second into a slash.
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[#\\]/.test(path)) return null;
  const { pathname, search } = new URL(`http://localhost${path}`);
  return pathname + search;
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
