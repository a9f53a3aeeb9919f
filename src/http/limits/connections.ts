/** A connection as far as it is needed here; a socket is one. */
export interface Peer {
  readonly writableLength: number;
  destroy(): unknown;
}

/** An answer under way: whether its request is there whole. Node's own is one. */
export interface Answer {
  req: { readonly complete: boolean };
}

/** What is known of an open connection; `A` is what is known of an answer under way. */
export interface Connection<R extends Answer, A> {
  address: string;
  since: number;
  requests: number;
  active: Map<R, A>;
  /** It came when there was no room: its first request gets 503. */
  refused: boolean;
  /** Bytes written that are accounted for. */
  counted: number;
  /** Since when the answer under way waits for its reader; null while none does. */
  waitsSince: number | null;
}

export interface ConnectionLimits {
  most: number;
  /** What a reader has in any case, and the bytes that it must take in each further second. */
  graceMilliseconds: number;
  slowestBytesPerSecond: number;
}

/** A refused connection may send its request for so long. */
const refusedMilliseconds = 600;

export const readerLimits = { graceMilliseconds: 30_000, slowestBytesPerSecond: 16 * 1024 };

/** Keeps the open connections: makes room for newcomers, and finds those whose reader does not read. */
export function createConnections<S extends Peer, R extends Answer, A>(limits: ConnectionLimits) {
  const open = new Map<S, Connection<R, A>>();
  let refusedOpen = 0;

  /** How little is lost with a connection: 0 when it is idle, 1 while all that it asks is still arriving, 2 while it does not read. */
  function loss({ active, waitsSince }: Connection<R, A>): number {
    if (active.size === 0) return 0;
    if ([...active.keys()].every(({ req }) => !req.complete)) return 1;
    return waitsSince !== null ? 2 : 3;
  }

  /**
   * The connection that makes room for a newcomer: of the address that has most of them, and only if it has more than the
   * newcomer's, so that no address can take all. The oldest of those that are missed least; none whose answer is being made.
   */
  function leastMissed(newcomer: string): S | null {
    const counts = new Map<string, number>();
    for (const { address, refused } of open.values())
      if (!refused) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (most <= (counts.get(newcomer) ?? 0)) return null;
    let found: S | null = null;
    let least = 3;
    // The map is in the order of coming.
    for (const [socket, connection] of open) {
      if (connection.refused || counts.get(connection.address) !== most) continue;
      const lost = loss(connection);
      if (lost < least) [found, least] = [socket, lost];
    }
    return found;
  }

  return {
    open,
    /** Takes a new connection in, in place of another where there is no room; otherwise it is marked as refused. */
    add(socket: S, address: string, now: number): Connection<R, A> {
      const isFull = open.size - refusedOpen >= limits.most;
      const other = isFull ? leastMissed(address) : null;
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
    /** Has another socket stand for a connection, as after a TLS handshake. */
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
    /** Cuts whoever does not take its answer in time, or was refused and stays. Call it a few times a second. Gives how many did not read. */
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
