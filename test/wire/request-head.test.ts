import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { readHead } from '../../src/wire/request-head.ts';
import { suite } from '../support/harness.ts';
import { ask } from '../support/running.ts';

const heads = suite('The head of a request');

const names = [
  ...['host', 'authorization', 'accept-encoding', 'if-none-match', 'user-agent', 'x-forwarded-for'],
  ...['x-forwarded-proto', 'x-request-id', 'traceparent', 'accept', 'x-other'],
];

heads('what is read of any headers is what Node reads of them, whatever their case and number', async () => {
  let last: IncomingMessage | undefined;
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    last = request;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const value = fc.stringMatching(/^[!-~]([ -~]{0,20}[!-~])?$/);
  const name = fc.constantFrom(...names).chain((each) => fc.mixedCase(fc.constant(each)));
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 12 }), async (pairs) => {
        const lines = pairs.map(([each, said]) => `${each}: ${said}\r\n`).join('');
        await ask(port, `GET / HTTP/1.1\r\n${lines}\r\n`);
        const { headers, rawHeaders } = last!;
        const head = readHead(rawHeaders);
        const times = (wanted: string) => pairs.filter(([each]) => each.toLowerCase() === wanted).length;
        assert.equal(
          {
            host: head.host,
            authorization: head.authorization,
            agent: head.userAgent,
            forwardedFor: head.forwardedFor,
            forwardedProto: head.forwardedProto,
            requestId: head.requestId,
            traceparent: head.traceparent,
          },
          {
            host: headers.host,
            authorization: headers.authorization,
            agent: headers['user-agent'],
            forwardedFor: headers['x-forwarded-for'],
            forwardedProto: headers['x-forwarded-proto'],
            requestId: headers['x-request-id'],
            traceparent: headers.traceparent,
          },
        );
        assert.is(head.hosts, times('host'));
        const twice = ['authorization', 'accept-encoding', 'if-none-match'].some((each) => times(each) > 1);
        assert.is(head.special, twice);
        if (times('accept-encoding') < 2) assert.is(head.acceptEncoding, headers['accept-encoding']);
        if (times('if-none-match') < 2) assert.is(head.ifNoneMatch, headers['if-none-match']);
      }),
      { numRuns: 200 },
    );
  } finally {
    server.close();
  }
});

heads('what the router alone knows how to treat makes a request special', () => {
  for (const [name, value] of [
    ['Cookie', 'a=b'],
    ['Origin', 'null'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'websocket'],
    ['Connection', 'close'],
    ['connection', 'keep-alive, upgrade'],
    ['Content-Length', '1'],
    ['Content-Length', ''],
  ])
    assert.is(readHead(['Host', 'x', name!, value!]).special, true, `${name}: ${value}`);
  for (const [name, value] of [
    ['Connection', 'Keep-Alive'],
    ['Content-Length', '0'],
    ['Accept', '*/*'],
  ])
    assert.is(readHead(['Host', 'x', name!, value!]).special, false, `${name}: ${value}`);
});

heads.run();
