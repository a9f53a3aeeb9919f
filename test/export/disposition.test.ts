import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { contentDisposition } from '../../src/http/answer.ts';
import { suite } from '../support/harness.ts';

const disposition = suite('Content-Disposition');

/** Reads the header back as a client does: RFC 6266 with RFC 5987. Throws when it has another form. */
function read(header: string): { ascii: string; exact: string } {
  const match =
    /^attachment; filename="([\x20-\x21\x23-\x5b\x5d-\x7e]*)"; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]*)$/.exec(
      header,
    );
  if (!match) throw new Error(`not a safe header: ${JSON.stringify(header)}`);
  return { ascii: match[1]!, exact: decodeURIComponent(match[2]!) };
}

/** The name as it may be sent (rule D34.6), character by character. */
function harmless(name: string): string {
  return [...name]
    .map((each, index) => {
      const code = each.codePointAt(0)!;
      const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
      return isControl || '/\\:'.includes(each) || (index === 0 && '.='.includes(each)) ? '_' : each;
    })
    .join('');
}

disposition('a plain name stands twice', () => {
  assert.is(
    contentDisposition('U_RHEL_9_STIG_V2R8.cklb'),
    `attachment; filename="U_RHEL_9_STIG_V2R8.cklb"; filename*=UTF-8''U_RHEL_9_STIG_V2R8.cklb`,
  );
});

disposition('quotes, backslashes, line ends, control characters and paths are harmless', () => {
  for (const name of [
    'a";filename="x.exe',
    'a\\"b',
    "a'b",
    'a\r\nSet-Cookie: x=1',
    'a\nb',
    'a\u0000b',
    'a;b',
    'a,b',
    'a%0d%0ab',
    '../../etc/passwd',
    'C:\\x',
    'a\tb',
    '',
    ' ',
    '(x)*!',
  ]) {
    const { ascii, exact } = read(contentDisposition(name));
    assert.is(exact, harmless(name));
    assert.match(ascii, /^(?![.=])[A-Za-z0-9._-]*$/);
    assert.not.match(contentDisposition(name), /[\r\n]/);
    new Headers({ 'Content-Disposition': contentDisposition(name) });
  }
});

disposition('a name beyond ASCII: underscores in the plain form, exact in the other', () => {
  assert.equal(read(contentDisposition('Größe – “x” €.csv')), {
    ascii: 'Gr_e_x_.csv',
    exact: 'Größe – “x” €.csv',
  });
  assert.equal(read(contentDisposition('日本.xml')), { ascii: '_.xml', exact: '日本.xml' });
  assert.equal(read(contentDisposition('😀.json')), { ascii: '_.json', exact: '😀.json' });
  assert.is(read(contentDisposition('a\ud800b')).exact, 'a\ufffdb', 'a lone surrogate cannot be encoded');
});

disposition('a long name is cut in the plain form, before its extension', () => {
  const plain = (name: string) => read(contentDisposition(name)).ascii;
  assert.is(plain(`${'x'.repeat(500)}.cklb`), `${'x'.repeat(145)}.cklb`);
  assert.is(plain(`${'x'.repeat(145)}.cklb`), `${'x'.repeat(145)}.cklb`, 'as long as may be');
  assert.is(plain(`${'x'.repeat(146)}.cklb`), `${'x'.repeat(145)}.cklb`, 'longer by one');
  assert.is(plain(`${'a.b '.repeat(100)}V1R1.17.csv`), `${'a.b_'.repeat(100).slice(0, 146)}.csv`);
  assert.is(plain('x'.repeat(500)), 'x'.repeat(150), 'without an extension');
  assert.is(plain(`a.${'x'.repeat(500)}`), `a.${'x'.repeat(148)}`, 'that is none');
});

disposition('a long name beyond ASCII keeps its extension, and is whole in the exact form', () => {
  for (const letter of ['é', '日', '😀']) {
    const name = `${`${letter}x`.repeat(100)}.json`;
    assert.equal(read(contentDisposition(name)), {
      ascii: `${'_x'.repeat(100).slice(0, 145)}.json`,
      exact: name,
    });
  }
});

disposition('every name gives a safe header that reads back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (name) => {
      const { ascii, exact } = read(contentDisposition(name));
      assert.is(exact, harmless(name));
      assert.match(ascii, /^(?![.=])[A-Za-z0-9._-]*$/);
    }),
    { numRuns: 500, seed: 20261121 },
  );
});

disposition('no name leads elsewhere, hides the file or begins a formula, in either form', () => {
  for (const [name, expected] of [
    ['../../etc/passwd', '_._.._etc_passwd'],
    ['C:\\x.cklb', 'C__x.cklb'],
    ['.bashrc', '_bashrc'],
    ['..', '_.'],
    ['=1+1.csv', '_1+1.csv'],
    ['a=b.csv', 'a=b.csv'],
    ['a\u0000b\u0009c\u007fd\u009fe', 'a_b_c_d_e'],
    ['host:8443_é.cklb', 'host_8443_é.cklb'],
    ['\u202ex.csv', '\u202ex.csv'],
  ] as const) {
    assert.is(read(contentDisposition(name)).exact, expected);
    assert.not.match(read(contentDisposition(name)).ascii, /[/\\:=]|^\./);
  }
  for (let code = 0; code < 0x500; code++) {
    const each = String.fromCodePoint(code);
    for (const name of [each, `a${each}b`, `${each}.csv`])
      assert.is(read(contentDisposition(name)).exact, harmless(name), String(code));
  }
});

disposition.run();
