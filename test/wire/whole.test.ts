import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as assert from 'uvu/assert';
import { canSendWhole, headText, sendWhole } from '../../src/wire/whole.ts';
import { suite } from '../support/harness.ts';
import { openRaw, until } from '../support/running.ts';

const whole = suite('Answers with a head made before');

const bodies: Record<string, Buffer | string> = {
  none: '',
  text: 'caf\u00e9 '.repeat(1000),
  bytes: Buffer.alloc(300_000, 'x'),
};

whole(
  'what goes out is byte for byte what writeHead and end would send, also for requests in one go',
  async () => {
    const seen: boolean[] = [];
    const server = createServer((request, response) => {
      const [, way, name] = request.url!.split('/') as [string, string, string];
      const status = name === 'none' ? 304 : 200;
      const content = bodies[name]!;
      const headers = [
        'X-Name',
        'a, "b"',
        ...(status === 304 ? [] : ['Content-Length', String(content.length)]),
      ];
      if (way === 'whole') {
        seen.push(canSendWhole(response));
        sendWhole(response, status, headText(status, headers), 'X-More: 1\r\n', content);
        seen.push(canSendWhole(response), response.headersSent, response.statusCode === status);
      } else {
        response.writeHead(status, [...headers, 'X-More', '1']);
        response.end(content, 'latin1');
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const names = Object.keys(bodies);
    const urls = names.flatMap((name) => [`/whole/${name}`, `/usual/${name}`]);
    const connection = await openRaw(
      port,
      [...urls, '/usual/none'].map((url) => `GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''),
    );
    const answers = () =>
      connection
        .received()
        .toString('latin1')
        .split(/(?=HTTP\/1\.1 \d)/);
    await until(
      'all answers',
      () => answers().length === urls.length + 1 && answers().at(-1)!.endsWith('\r\n\r\n'),
    );
    connection.socket.destroy();
    server.close();
    // The second may have begun between the two.
    const timeless = (text: string) => text.replace(/\r\nDate: [^\r]+/, '');
    names.forEach((name, index) => {
      const [ours, usual] = answers().slice(2 * index) as [string, string];
      assert.is(timeless(ours), timeless(usual), name);
      assert.ok(Math.abs(dateOf(ours) - dateOf(usual)) <= 1000);
      assert.ok(Math.abs(dateOf(ours) - Date.now()) < 60_000);
    });
    assert.equal(
      seen,
      names.flatMap(() => [true, false, true, true]),
    );
  },
);

const dateOf = (answer: string) => Date.parse(/\r\nDate: ([^\r]+)/.exec(answer)![1]!);

whole('a head takes no name or value that would end it', () => {
  for (const pair of [
    ['X-Name', 'a\r\nX-Evil: 1'],
    ['X-Name', 'a\n'],
    ['X-Name: b', 'a'],
    ['X-Name', '\u20ac'],
    ['', 'a'],
  ])
    assert.throws(() => headText(200, pair), pair.join());
  assert.is(headText(404, ['A', 'b']), 'HTTP/1.1 404 Not Found\r\nA: b\r\n');
});

whole.run();
