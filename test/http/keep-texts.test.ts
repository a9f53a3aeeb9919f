import * as assert from 'uvu/assert';
import { createAnswers } from '../../src/http/cache/answers.ts';
import { keepTexts } from '../../src/http/cache/keep-texts.ts';
import { suite } from '../support/harness.ts';

const test = suite('Kept texts');

test('a text is made once for each state of the catalog, and not kept when that changes meanwhile', async () => {
  let generation = 1;
  let made = 0;
  const audience = { version: () => '' };
  const kept = keepTexts(createAnswers({ generation: () => generation, audience }));
  const make = async () => `text ${++made}, café`;
  assert.is(await kept('a', make), 'text 1, café');
  assert.is(await kept('a', make), 'text 1, café');
  assert.is(await kept('b', make), 'text 2, café');
  generation++;
  assert.is(await kept('a', make), 'text 3, café');
  const changing = async () => {
    generation++;
    return make();
  };
  assert.is(await kept('c', changing), 'text 4, café');
  assert.is(await kept('c', make), 'text 5, café');
});

test('what fails is not kept, and without a cache each text is made', async () => {
  const kept = keepTexts(createAnswers({ generation: () => 1, audience: { version: () => '' } }));
  const fail = () => Promise.reject(new Error('no'));
  assert.is(await kept('a', fail).catch((error) => error.message), 'no');
  assert.is(await kept('a', async () => 'yes'), 'yes');
  const made: string[] = [];
  const make = async () => `${made.push('')}`;
  const always = keepTexts(null);
  assert.equal([await always('a', make), await always('a', make)], ['1', '2']);
});

test.run();
