import * as assert from 'uvu/assert';
import { contentDisposition } from '../../src/http/answer.ts';
import { suite } from '../support/harness.ts';

const disposition = suite('Content-Disposition');

/** Reads the header back as a client does: RFC 6266 with RFC 5987. Throws when it has another form. */
function read(name: string): { ascii: string; exact: string } {
  const header = contentDisposition(name);
  new Headers({ 'Content-Disposition': header });
  const match =
    /^attachment; filename="((?![.=])[A-Za-z0-9._-]*)"; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]*)$/.exec(
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

disposition('a plain name stands twice; beyond ASCII the plain form has underscores', () => {
  const plain = 'U_RHEL_9_STIG_V2R8.cklb';
  assert.is(contentDisposition(plain), `attachment; filename="${plain}"; filename*=UTF-8''${plain}`);
  for (const [name, ascii] of [
    ['Größe – “x” €.csv', 'Gr_e_x_.csv'],
    ['日本.xml', '_.xml'],
    ['😀.json', '_.json'],
  ] as const)
    assert.equal(read(name), { ascii, exact: name });
  assert.is(read('a\ud800b').exact, 'a\ufffdb', 'a lone surrogate cannot be encoded');
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
    ['a\r\nSet-Cookie: x=1', 'a__Set-Cookie_ x=1'],
  ] as const)
    assert.is(read(name).exact, expected);
  for (const name of ['a";filename="x.exe', 'a\\"b', "a'b", 'a;b', 'a,b', 'a%0d%0ab', '', ' ', '(x)*!'])
    assert.is(read(name).exact, harmless(name));
  for (let code = 0; code < 0x500; code++) {
    const each = String.fromCodePoint(code);
    for (const name of [each, `a${each}b`, `${each}.csv`])
      assert.is(read(name).exact, harmless(name), `${code}`);
  }
});

disposition.run();
