import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { readTarget } from '../../src/http/request.ts';
import { suite } from '../support/harness.ts';
import { rowsOf } from '../support/tables.ts';

const heads = suite('The head of a request');

const pathOf = (...head: Parameters<typeof readTarget>) => readTarget(...head)?.path ?? null;

heads('a Host is a name or address with an optional port, once', () => {
  for (const host of [
    ...['localhost', 'localhost:8080', 'LOCAL.example', 'a_b.example', '_x:1', 'x.', 'xn--bcher-kva.example'],
    ...'127.0.0.1 127.0.0.1:65535 [::1] [::1]:8080 [0:0:0:0:0:0:0:1] [::ffff:1.2.3.4] 1.2'.split(' '),
  ])
    assert.is(pathOf('/a', host, '1.1'), '/a', host);
  const wrong =
    String.raw`a/b a?b a#b a\b a@b @ a: a:b a:65536 a:123456 a:1:2 :80 ::1 [::1 [] [::::] [g::] [::1]x
    1.2.3.999 a%41 a,b -a .a a..b/c é é.é/x# ａ http://a /a`.split(/\s+/);
  for (const host of [...wrong, '', ' ', 'a b', 'a, a', 'a\u00ad', 'a\tb', 'a'.repeat(262)])
    assert.is(pathOf('/a', host, '1.1'), null, JSON.stringify(host));
  assert.is(pathOf('/a', undefined, '1.1'), null, 'HTTP/1.1 asks for one');
  assert.is(pathOf('/a', undefined, '1.0'), '/a', 'HTTP/1.0 does not');
  assert.is(pathOf('/a', '', '1.0'), null);
});

heads('a target is a path, or an absolute address that counts for its path', () => {
  for (const [target, path] of rowsOf(`
    / | /
    /a/b?c=d&e=%20+;,:@!$()*~ | /a/b?c=d&e=%20+;,:@!$()*~
    //a | //a
    /AC-2(1) | /AC-2(1)
    /AC-2%281%29 | /AC-2%281%29
    /a/../b | /b
    /a/./b/%2e%2E/c?x=/../y | /a/c?x=/../y
    /.. | /
    /a?b?c | /a?b?c
    /a"b | /a%22b
    /a?x=<y> | /a?x=%3Cy%3E
    http://host/a?b | /a?b
    HTTPS://host:1/a | /a
    http://host | /
    http://host?b | /?b
    http://host//other/a | //other/a
    /http://other/a | /http://other/a
  `))
    assert.is(pathOf(target!, 'h', '1.1'), path, target);
  const wrong =
    String.raw`* a a:1 ?a # /a#b /# /a?b#c /a\b /a?b\c \ /é /a?é ftp://h/a http:/a http:// http:///a
    http://h:x/a http://u@h/a http://h\a/b http://é/a http://h#/a http://h@o/a http://[::1/a http://h:99999/a
    javascript:/a`.split(/\s+/);
  for (const target of [...wrong, '', ' /a', '/a b', '/a\u00a0', '/a\u0000'])
    assert.is(pathOf(target, 'h', '1.1'), null, JSON.stringify(target));
});

heads('the host of an absolute address counts, else that of the header', () => {
  assert.is(readTarget('http://Other:80/a', 'local', '1.1')?.host, 'Other:80');
  assert.is(readTarget('/a', 'local:1', '1.1')?.host, 'local:1');
  assert.is(readTarget('/a', undefined, '1.0')?.host, 'localhost');
});

heads('what is read of a target is read the same again, and is what a URL has for it', () => {
  const parts = `/ . .. %2e %2E a B ? & = % %zz ' " | ^ [ ] { \` ~ : @ ;`.split(' ');
  const part = fc.constantFrom(...parts);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (chosen) => {
      const target = `/${chosen.join('')}`;
      const path = pathOf(target, 'h', '1.1');
      const { pathname, search } = new URL(`http://h${target}`);
      assert.is(path, pathname + search, target);
      assert.is(pathOf(path!, 'other', '1.1'), path, target);
    }),
    { numRuns: 1000 },
  );
});

heads.run();
