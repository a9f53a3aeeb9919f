/** Milliseconds of a turn for each further request that begins in the next one. */
const slowTurn = 5;

/**
 * Gives a function that begins the requests of connections, one in each turn of the event loop: in the order of arrival,
 * and of connections with several in turn. More begin where turns are long, so that work in slices does not hold up what
 * is quick. The system tells of new requests by connection, not by their age: where all that have arrived begin at once,
 * one that just missed a turn waits for two of all others.
 */
export function createInTurn<Connection>(clock: () => number = () => performance.now()) {
  /** The connections in the order of their turns, with what waits. */
  const waiting = new Map<Connection, (() => void)[]>();
  let isTaken = false;
  let begun = clock();

  function beginNext(): void {
    const [next] = waiting;
    const [connection, own] = next!;
    const begin = own.shift()!;
    waiting.delete(connection);
    if (own.length > 0) waiting.set(connection, own);
    begin();
  }

  function beginTurn(): void {
    const now = clock();
    isTaken = waiting.size > 0;
    if (isTaken) setImmediate(beginTurn);
    // None of a connection twice: Node hands over all requests of a packet at once.
    const count = Math.min(waiting.size, 1 + Math.floor((now - begun) / slowTurn));
    for (let index = 0; index < count; index++) beginNext();
    begun = now;
  }

  return (connection: Connection, begin: () => void): void => {
    const own = waiting.get(connection);
    if (own) own.push(begin);
    else waiting.set(connection, [begin]);
    if (!isTaken) beginTurn();
  };
}
