import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { AppError } from '../../src/base/errors.ts';
import { mostFields, parseFields, readForm } from '../../src/http/form.ts';
import { suite } from '../support/harness.ts';

// Forms cost their length, whatever stands in them (rule D2.6; threat H5).
const forms = suite('Forms');

const encoded = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data; boundary=B';
const bytesOf = (text: string) => new TextEncoder().encode(text);
const part = (head: string, value = '') => `--B\r\n${head}\r\n\r\n${value}\r\n`;
const field = (name: string, value = '') => part(`Content-Disposition: form-data; name="${name}"`, value);

async function refusal(body: string | Uint8Array, type: string): Promise<string> {
  try {
    await readForm(typeof body === 'string' ? bytesOf(body) : body, type);
  } catch (error) {
    assert.instance(error, AppError);
    assert.is((error as AppError).code, 'BAD_REQUEST');
    return (error as AppError).message;
  }
  throw new Error(`it was not refused: ${body.slice(0, 60)}`);
}

forms('fields are those that a browser means, in their order, also repeated', async () => {
  const texts = fc.string({ unit: 'binary', maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(texts, texts), { maxLength: 20 }), async (pairs) => {
      const sent = new URLSearchParams();
      for (const [name, value] of pairs) sent.append(name.toWellFormed(), value.toWellFormed());
      const form = await readForm(bytesOf(sent.toString()), `${encoded}; charset=UTF-8`);
      assert.equal(form.texts(), [...sent]);
      for (const name of new Set([...sent.keys(), 'none', '__proto__'])) {
        assert.is(form.get(name), sent.get(name) ?? '');
        assert.equal(form.all(name), sent.getAll(name));
      }
    }),
    { numRuns: 300 },
  );
  assert.equal(parseFields('&a&&b=&=c&d=1=2&a+b=%2B+%26&'), [
    ['a', ''],
    ['b', ''],
    ['', 'c'],
    ['d', '1=2'],
    ['a b', '+ &'],
  ]);
  for (const wrong of ['a=%', 'a=%f', '%zz=1', 'a=%ff', 'a=%C3&b=%A4', 'a=%ed%a0%80'])
    assert.is(await refusal(wrong, encoded), 'The request body is not valid UTF-8', wrong);
});

forms('more fields than any page sends are refused, URL-encoded and in parts', async () => {
  const words = `The form has more than ${mostFields} fields`;
  assert.is((await readForm(bytesOf('a&'.repeat(mostFields - 1)), encoded)).all('a').length, mostFields - 1);
  assert.is(
    (await readForm(bytesOf('a=1&'.repeat(mostFields).slice(0, -1)), encoded)).texts().length,
    mostFields,
  );
  for (const many of ['a=1&'.repeat(mostFields + 1), '&'.repeat(mostFields), 'a&'.repeat(2 ** 22)])
    assert.is(await refusal(many, encoded), words);
  const whole = await readForm(bytesOf(`${field('a', 'é').repeat(mostFields)}--B--\r\n`), multipart);
  assert.equal([whole.all('a').length, whole.get('a')], [mostFields, 'é']);
  assert.is(await refusal(`${field('a').repeat(mostFields + 1)}--B--\r\n`, multipart), words);
  assert.is(await refusal('--B'.repeat(mostFields + 2), multipart), words);
});

forms('parts with endless headers, and a boundary that is none, are refused', async () => {
  const long = 'A part of the form has more than 16384 bytes of headers';
  const disposition = 'Content-Disposition: form-data; name="a"';
  assert.is(
    await refusal(`${part(`${disposition}\r\n${'X: y\r\n'.repeat(5000)}X: z`)}--B--\r\n`, multipart),
    long,
  );
  assert.is(await refusal(`${field('n'.repeat(20_000))}--B--\r\n`, multipart), long);
  const form = await readForm(bytesOf(`${field('n'.repeat(2000), 'v'.repeat(100_000))}--B--\r\n`), multipart);
  assert.is(form.texts()[0]![1].length, 100_000);
  const none = 'The request body is not a form';
  const body = `${field('a', '1')}--B--\r\n`;
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', `${multipart}"`])
    assert.is(await refusal(body, type), none, type);
  // The boundary that is counted is the one that is read by.
  for (const type of [
    'multipart/form-data; boundary="B"',
    `${multipart}; charset=x`,
    `${multipart}; boundary=C`,
  ])
    assert.is((await readForm(bytesOf(body), type)).get('a'), '1', type);
});

forms('files come with their names and bytes', async () => {
  const data = new FormData();
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
  data.append('file', new File([bytes], 'ü "a".bin'));
  data.append('note', 'x\r\ny');
  const response = new Response(data);
  const sent = new Uint8Array(await response.arrayBuffer());
  const form = await readForm(sent, response.headers.get('Content-Type')!);
  assert.equal(
    form.files('file').map((file) => [file.name, Buffer.from(file.bytes).equals(bytes)]),
    [['ü "a".bin', true]],
  );
  assert.equal(form.texts(), [['note', 'x\r\ny']]);
});

forms.run();
