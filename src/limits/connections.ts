/** A connection as far as it is needed here; a socket is one. */
export interface Peer {
  readonly writableLength: number;
  destroy(): unknown;
}

/** What is known of an open connection; `R` is an answer under way, `A` what is known of that. */
export interface Connection<R, A> {
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
const refusedMilliseconds = 2000;

export const readerLimits = { graceMilliseconds: 30_000, slowestBytesPerSecond: 16 * 1024 };

/** Keeps the open connections: makes room for newcomers, and finds those whose reader does not read. */
export function createConnections<S extends Peer, R, A>(limits: ConnectionLimits) {
  const open = new Map<S, Connection<R, A>>();
  let refusedOpen = 0;

  /** The oldest connection without an answer under way, of the address that has most; only if it has more than the newcomer's. */
  function leastMissed(newcomer: string): S | null {
    const counts = new Map<string, number>();
    for (const { address, refused } of open.values())
      if (!refused) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (most <= (counts.get(newcomer) ?? 0)) return null;
    // The map is in the order of coming.
    for (const [socket, { address, active, refused }] of open)
      if (!refused && active.size === 0 && counts.get(address) === most) return socket;
    return null;
  }

  return {
    open,
    /** Takes a new connection in, in place of another where there is no room; otherwise it is marked as refused. */
    add(socket: S, address: string, now: number): Connection<R, A> {
      let refused = false;
      if (open.size - refusedOpen >= limits.most) {
        const other = leastMissed(address);
        if (other === null) refused = true;
        else {
          open.delete(other);
          other.destroy();
        }
      }
      if (refused) refusedOpen++;
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
    remove(socket: S): void {
      if (open.get(socket)?.refused) refusedOpen--;
      open.delete(socket);
    },
    /** Cuts whoever does not take its answer in time, or was refused and stays. Call it every second or so. Gives how many. */
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
