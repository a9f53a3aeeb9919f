import * as assert from 'uvu/assert';
import { createInTurn } from '../../src/http/limits/in-turn.ts';
import { suite } from '../support/harness.ts';

const turns = suite('Turns of the event loop');

/**
 * Begins requests in turns that take `milliseconds` each; notes the names of each turn. A name begins with that of its
 * connection.
 */
function begun(milliseconds: number) {
  let now = 0;
  const inTurn = createInTurn(() => now);
  const seen: string[][] = [[]];
  const begin = (name: string) => inTurn(name[0], () => seen.at(-1)!.push(name));
  const turn = () =>
    new Promise<void>((resolve) => {
      now += milliseconds;
      seen.push([]);
      setImmediate(resolve);
    });
  return { begin, turn, seen };
}

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

turns('one request begins in each turn, in the order of arrival', async () => {
  const { begin, turn, seen } = begun(1);
  for (const name of names.slice(0, 3)) begin(name);
  await turn();
  // Came later than `c`, which still waits.
  begin('d');
  for (let count = 0; count < 4; count++) await turn();
  begin('e');
  begin('f');
  await turn();
  assert.equal(seen, [['a'], ['b'], ['c'], ['d'], [], ['e'], ['f']]);
});

turns('a connection with many waits for all others after each of them', async () => {
  const { begin, turn, seen } = begun(1);
  for (let number = 1; number <= 4; number++) for (const connection of 'ab') begin(`${connection}${number}`);
  await turn();
  begin('c1');
  for (let count = 0; count < 7; count++) await turn();
  assert.equal(seen, [['a1'], ['b1'], ['a2'], ['b2'], ['c1'], ['a3'], ['b3'], ['a4'], ['b4']]);
});

turns('a long turn lets more begin in the next, as long as it was', async () => {
  const { begin, turn, seen } = begun(14);
  for (const name of names) begin(name);
  for (let count = 0; count < 3; count++) await turn();
  assert.equal(seen, [['a'], ['b', 'c', 'd'], ['e', 'f', 'g'], []]);
});

turns('of one connection only one begins in a turn, however long', async () => {
  const { begin, turn, seen } = begun(1000);
  for (const name of ['a1', 'a2', 'a3', 'b1']) begin(name);
  for (let count = 0; count < 3; count++) await turn();
  assert.equal(seen, [['a1'], ['a2', 'b1'], ['a3'], []]);
});

turns('a request after a long pause takes the turn, as any other', async () => {
  const { begin, turn, seen } = begun(1000);
  for (let count = 0; count < 3; count++) await turn();
  begin('a');
  begin('b');
  assert.equal(seen.flat(), ['a']);
  await turn();
  assert.equal(seen.flat(), ['a', 'b']);
});

turns.run();
