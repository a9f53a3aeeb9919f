/** Milliseconds of a turn for each further request that begins in the next one. */
const slowTurn = 5;

/**
 * Gives a function that begins requests in the order of their arrival, one in each turn of the event loop; more where
 * turns are long, so that work in slices does not hold up what is quick. The system tells of new requests by connection,
 * not by their age: where all that have arrived begin at once, one that just missed a turn waits for two of all others.
 */
export function createTurns(clock: () => number = () => performance.now()) {
  const waiting: (() => void)[] = [];
  let isTaken = false;
  let begun = clock();

  function beginTurn(): void {
    const now = clock();
    const next = waiting.splice(0, 1 + Math.floor((now - begun) / slowTurn));
    begun = now;
    isTaken = next.length > 0;
    if (isTaken) setImmediate(beginTurn);
    for (const begin of next) begin();
  }

  return (begin: () => void): void => {
    waiting.push(begin);
    if (!isTaken) beginTurn();
  };
}
