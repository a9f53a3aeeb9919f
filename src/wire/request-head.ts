/** What the headers of a request say to the server itself; what is not there is undefined. */
export interface RequestHead {
  /** How many `Host` headers there are: Node would take the first. */
  hosts: number;
  host: string | undefined;
  authorization: string | undefined;
  acceptEncoding: string | undefined;
  ifNoneMatch: string | undefined;
  forwardedFor: string | undefined;
  forwardedProto: string | undefined;
  requestId: string | undefined;
  traceparent: string | undefined;
  userAgent: string | undefined;
  /** Whether there is a header that only the router knows how to treat, or one twice that counts once. */
  special: boolean;
}

/**
 * Reads the headers of a request, a name and its value in turn as `rawHeaders` of Node has them, in one pass: Node's own
 * `headers` takes more time than the rest of a small answer's look-up. What comes twice is joined or left out as there.
 */
export function readHead(raw: readonly string[]): RequestHead {
  const head: RequestHead = {
    hosts: 0,
    host: undefined,
    authorization: undefined,
    acceptEncoding: undefined,
    ifNoneMatch: undefined,
    forwardedFor: undefined,
    forwardedProto: undefined,
    requestId: undefined,
    traceparent: undefined,
    userAgent: undefined,
    special: false,
  };
  for (let at = 0; at < raw.length; at += 2) {
    const value = raw[at + 1]!;
    switch (raw[at]!.toLowerCase()) {
      case 'host':
        head.hosts++;
        head.host ??= value;
        break;
      case 'authorization':
        if (head.authorization !== undefined) head.special = true;
        head.authorization ??= value;
        break;
      case 'accept-encoding':
        if (head.acceptEncoding !== undefined) head.special = true;
        head.acceptEncoding ??= value;
        break;
      case 'if-none-match':
        if (head.ifNoneMatch !== undefined) head.special = true;
        head.ifNoneMatch ??= value;
        break;
      case 'user-agent':
        head.userAgent ??= value;
        break;
      case 'x-forwarded-for':
        head.forwardedFor = joined(head.forwardedFor, value);
        break;
      case 'x-forwarded-proto':
        head.forwardedProto = joined(head.forwardedProto, value);
        break;
      case 'x-request-id':
        head.requestId = joined(head.requestId, value);
        break;
      case 'traceparent':
        head.traceparent = joined(head.traceparent, value);
        break;
      case 'connection':
        if (value.toLowerCase() !== 'keep-alive') head.special = true;
        break;
      case 'content-length':
        if (value !== '0') head.special = true;
        break;
      case 'cookie':
      case 'origin':
      case 'transfer-encoding':
      case 'upgrade':
        head.special = true;
    }
  }
  return head;
}

const joined = (before: string | undefined, value: string) =>
  before === undefined ? value : `${before}, ${value}`;
