/**
 * The headers of a request by their lower-case names, from `rawHeaders` of Node (a name and its value in turn). What comes
 * twice is joined by a comma, as RFC 9110 5.3 has it; Node would keep the first of some.
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

/** What no plain request for a resource has: a cookie, an origin, a body or another protocol to come. */
const special = ['cookie', 'origin', 'transfer-encoding', 'upgrade'];

/** Whether headers, by their lower-case names, are those of a plain request on a connection that stays. */
export const isPlain = (headers: ReadonlyMap<string, string>) =>
  (headers.get('content-length') ?? '0') === '0' &&
  (headers.get('connection') ?? 'keep-alive').toLowerCase() === 'keep-alive' &&
  !special.some((name) => headers.has(name));

/** A path and query that a URL leaves as they are, unless a segment begins with a dot. */
const plainTarget = /^\/[\w!$&()*+,;=:@%~./-]*(?:\?[\w!$&()*+,;=:@%~./?-]+)?$/;
const dottedSegment = /\/(?:\.|%2e)/i;
const hostAndPort = /^(?:[A-Za-z0-9_][\w.-]*|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/;
const absoluteTarget = /^https?:\/\/([^/?]*)(.*)$/i;
const longestHost = 255 + ':65535'.length;

/**
 * What a request asks for: path and query, as the router sees them; null for a target that is none of HTTP/1.1 (RFC 9112
 * 3.2: a path, or an absolute address, whose host then is that of the request), and for a Host that is no host with an
 * optional port. The one place that reads a target or a Host.
 */
export function requestTarget(target: string, host: string | undefined, version: string): string | null {
  // Health checks of load balancers come in HTTP/1.0, where there need be no Host.
  if (host === undefined ? version !== '1.0' : !isHost(host)) return null;
  const absolute = target.startsWith('/') ? null : absoluteTarget.exec(target);
  if (absolute !== null && !isHost(absolute[1]!)) return null;
  const path = absolute === null ? target : absolute[2]!.replace(/^(?!\/)/, '/');
  if (plainTarget.test(path) && !dottedSegment.test(path)) return path;
  // RFC 3986 has none of these in a path or query; a URL would cut the target at the one and turn the other into a slash.
  if (!/^\/[\x21-\x7e]*$/.test(path) || /[#\\]/.test(path)) return null;
  const { pathname, search } = new URL(`http://localhost${path}`);
  return pathname + search;
}

/** The last that was a host: callers name few others. */
let lastHost = '';

function isHost(text: string): boolean {
  if (text === lastHost) return true;
  const [, port = '0'] = hostAndPort.exec(text) ?? [null, '99999'];
  // What is no address after all, as [::::] or 1.2.3.999.
  const isOne = text.length <= longestHost && Number(port) <= 65_535 && URL.canParse(`http://${text}/`);
  if (isOne) lastHost = text;
  return isOne;
}
