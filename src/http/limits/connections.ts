/** The part of a socket that is used here. */
export interface Peer {
  readonly writableLength: number;
  destroy(): unknown;
}

/** An answer in progress (Node's `ServerResponse`); `complete` says whether the whole request arrived. */
export interface Answer {
  req: { readonly complete: boolean };
}

/** An open connection; `A` is the data of an answer in progress. */
export interface Connection<R extends Answer, A> {
  address: string;
  since: number;
  requests: number;
  active: Map<R, A>;
  /** Accepted beyond the limit: its first request gets 503. */
  refused: boolean;
  /** Bytes written, as counted so far. */
  counted: number;
  /** When the client stopped reading the answer (ms); null while it reads. */
  waitsSince: number | null;
}

export interface ConnectionLimits {
  most: number;
  /** The time that every client has, and the bytes that it must then read in each second. */
  graceMilliseconds: number;
  slowestBytesPerSecond: number;
}

const refusedMilliseconds = 600;

export const readerLimits = { graceMilliseconds: 30_000, slowestBytesPerSecond: 16 * 1024 };

/** The open connections: makes room for new ones, and closes those whose client does not read. */
export function createConnections<S extends Peer, R extends Answer, A>(limits: ConnectionLimits) {
  const open = new Map<S, Connection<R, A>>();
  let refusedOpen = 0;

  return {
    open,
    /** Adds a connection and closes another where there is no room, or marks the new one as refused. */
    add(socket: S, address: string, now: number): Connection<R, A> {
      const isFull = open.size - refusedOpen >= limits.most;
      const other = isFull ? cheapestToClose(open, address) : null;
      const refused = isFull && other === null;
      if (refused) refusedOpen++;
      if (other !== null) {
        other.destroy();
        open.delete(other);
      }
      const connection: Connection<R, A> = {
        address,
        since: now,
        requests: 0,
        active: new Map(),
        refused,
        counted: 0,
        waitsSince: null,
      };
      open.set(socket, connection);
      return connection;
    },
    /** Replaces the socket of a connection, as after a TLS handshake. */
    move(from: S, to: S): Connection<R, A> | undefined {
      const connection = open.get(from);
      if (connection === undefined) return undefined;
      open.delete(from);
      open.set(to, connection);
      return connection;
    },
    remove(socket: S): void {
      if (open.get(socket)?.refused) refusedOpen--;
      open.delete(socket);
    },
    /** Closes slow readers and refused connections; call it a few times a second. Gives the number of slow readers. */
    sweep(now: number): number {
      let cut = 0;
      for (const [socket, connection] of open) {
        const { active, refused, since } = connection;
        if (refused && active.size === 0 && now - since > refusedMilliseconds) socket.destroy();
        if (active.size === 0 || socket.writableLength === 0) {
          connection.waitsSince = null;
          continue;
        }
        connection.waitsSince ??= now;
        const allowed =
          limits.graceMilliseconds + (socket.writableLength / limits.slowestBytesPerSecond) * 1000;
        if (now - connection.waitsSince <= allowed) continue;
        socket.destroy();
        cut++;
      }
      return cut;
    },
  };
}

/** The cost of closing a connection: 0 idle, 1 incomplete requests, 2 a client that does not read, 3 in use. */
function loss<R extends Answer, A>({ active, waitsSince }: Connection<R, A>): number {
  if (active.size === 0) return 0;
  if ([...active.keys()].every(({ req }) => !req.complete)) return 1;
  return waitsSince !== null ? 2 : 3;
}

/**
 * The connection to close for a new one: the oldest of least cost, not in use, of the address with the most
 * connections, if that has more than the new one's: so no address can take all.
 */
function cheapestToClose<S, R extends Answer, A>(open: Map<S, Connection<R, A>>, newcomer: string): S | null {
  const counts = new Map<string, number>();
  for (const { address, refused } of open.values())
    if (!refused) counts.set(address, (counts.get(address) ?? 0) + 1);
  const most = Math.max(...counts.values());
  if (most <= (counts.get(newcomer) ?? 0)) return null;
  let found: S | null = null;
  let least = 3;
  // The map keeps the order of insertion, so the oldest are first.
  for (const [socket, connection] of open) {
    if (connection.refused || counts.get(connection.address) !== most) continue;
    const lost = loss(connection);
    if (lost < least) [found, least] = [socket, lost];
  }
  return found;
}
