import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { createLog, redact } from '../../src/base/log.ts';
import { beginRecord, createObserver } from '../../src/http/record.ts';
import { suite } from '../support/harness.ts';

const log = suite('Log');

const token = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';
const program = `gsi_${'A'.repeat(43)}`;

function written(work: (log: ReturnType<typeof createLog>) => void, level = 'debug' as const) {
  const lines: string[] = [];
  work(createLog(level, (line) => lines.push(line)));
  return lines;
}

log('no token, cookie, e-mail address or search text reaches a line, however deep it lies', () => {
  const fields = {
    authorization: 'Bearer x',
    nested: { Cookie: 'gapstone_session=abc', list: [{ search: 'canary' }, `see ${token}`] },
    error: `Error: bad ${token} and ${program}\n    at ann.lee@mail.example.org:1`,
    Token: 'plain',
    email: null,
    count: 3,
  };
  const [line] = written((l) => l.error(`from ${token}`, fields));
  const { time, ...rest } = JSON.parse(line!);
  assert.match(time, /Z$/);
  assert.equal(rest, {
    level: 'error',
    msg: 'from [token]',
    authorization: '[redacted]',
    nested: { Cookie: '[redacted]', list: [{ search: '[redacted]' }, 'see [token]'] },
    error: 'Error: bad [token] and [token]\n    at [email]:1',
    Token: '[redacted]',
    email: null,
    count: 3,
  });
});

log('redaction leaves other texts as they are, and ends on texts made to keep it busy', () => {
  for (const text of [
    'at file:///opt/node_modules/@hono/node-server/dist/index.mjs:10:5',
    'SQLITE_BUSY: database is locked',
    'the TLS key /etc/tls/key.pem',
    'a@b',
  ])
    assert.is(redact(text), text);
  for (const unit of ['a', 'a@', 'eyJ', 'gsi_', 'a.', '@a.']) redact(unit.repeat(200_000 / unit.length));
});

log('a request line is one line of JSON whatever its texts are, and levels hold for it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.string({ unit: 'binary', maxLength: 300 }),
      (userAgent, method, organization) => {
        const lines = written((l) => {
          const arrival = { method, remote: '10.0.0.1', secure: false };
          const record = beginRecord(arrival, (name) => (name === 'user-agent' ? userAgent : undefined));
          Object.assign(record, {
            caller: { by: 'user', viewer: { kind: 'user', subject: 'alice', organization } },
            route: '/a',
          });
          createObserver(l).end(record, 200, 12);
        });
        assert.is(lines.length, 1);
        assert.match(lines[0]!, /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*\n$/);
        const line = JSON.parse(lines[0]!);
        assert.equal(
          [line.msg, line.status, line.bytes, line.subjectHash],
          ['request', 200, 12, '2bd806c97f0e'],
        );
        assert.ok([...line.userAgent].length <= 200);
      },
    ),
  );
  const silent: string[] = [];
  const warn = createLog('warn', (line) => silent.push(line));
  warn.line('info', 'request', { a: 1 });
  warn.info('no');
  assert.equal(silent, []);
});

log('a request id is the own one of the caller, unless it could be a token; traceparent is checked', () => {
  const begin = (requestId: string | undefined, traceparent?: string) => {
    const headers = new Map([
      ['x-request-id', requestId],
      ['traceparent', traceparent],
    ]);
    return beginRecord({ method: 'GET', remote: '', secure: false }, (name) => headers.get(name));
  };
  assert.is(begin('trace-1_2.3').requestId, 'trace-1_2.3');
  for (const bad of [undefined, '', 'a b', 'x'.repeat(65), program, token.slice(0, 40)])
    assert.match(begin(bad).requestId, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  assert.is(begin('a', good).traceparent, good);
  assert.is(begin('a', `${good}"`).traceparent, undefined);
});

log.run();
