import * as assert from 'uvu/assert';
import { parseOscalCatalog } from '../../../importers/controls/oscal-catalog.ts';
import { valueOfXml } from '../../../importers/controls/oscal-document.ts';
import { suite } from '../../support/harness.ts';
import { control, item, oscalCatalog } from './oscal-fixtures.ts';
import { catalogOf, refusal, treeOf } from './support.ts';

const markup = suite('markup of OSCAL');

const title = 'NIST SP 800-53 Rev 5 as a test has it';
const xmlCatalog = (statement: string, guidance: string, lines = { title: 'Lamps', label: 'oil' }) =>
  `<catalog xmlns="http://csrc.nist.gov/ns/oscal/1.0" uuid="c"><metadata><title>${title}</title>
   <last-modified>2024-02-04T23:16:00Z</last-modified><version>5.1.1</version></metadata>
   <group id="ac"><title>Lanterns</title><control id="ac-1"><title>${lines.title}</title>
   <param id="_oil_"><label>${lines.label}</label></param>
   <part id="s" name="statement"><part id="s.a" name="item"><prop name="label" value="a."/>${statement}</part></part>
   <part id="g" name="guidance">${guidance}</part></control></group></catalog>`;

function jsonCatalog(statement: string, guidance: string, lines = { title: 'Lamps', label: 'oil' }) {
  const parts = [
    { id: 's', name: 'statement', parts: [item('s.a', 'a.', statement)] },
    { id: 'g', name: 'guidance', prose: guidance },
  ];
  const params = [{ id: '_oil_', label: lines.label }];
  const value = oscalCatalog([control('ac-1', { title: lines.title, params, parts })], {
    title,
    'last-modified': '2024-02-04T23:16:00Z',
    version: '5.1.1',
  });
  value.catalog.groups[0]!.title = 'Lanterns';
  return value;
}

const ofJson = (...texts: Parameters<typeof jsonCatalog>) =>
  catalogOf(parseOscalCatalog(jsonCatalog(...texts)));
const ofXml = (...texts: Parameters<typeof xmlCatalog>) =>
  catalogOf(parseOscalCatalog(valueOfXml(treeOf(xmlCatalog(...texts)))));

// Markdown, the same in XML, and the plain text of both.
const texts: [markdown: string, xml: string, text: string][] = [
  ['**Dim** the *very* lamp', '<p><strong>Dim</strong> the <em>very</em> lamp</p>', 'Dim the very lamp'],
  ['run `lamp -x` and `a*b`', '<p>run <code>lamp -x</code> and <code>a*b</code></p>', 'run lamp -x and a*b'],
  ['\\*See 2 \\* 3, \\_x\\_, \\"so\\"', '<p>*See 2 * 3, _x_, <q>so</q></p>', '*See 2 * 3, _x_, "so"'],
  ['H~2~O, m^2^, 2\\^8 and \\~1', '<p>H<sub>2</sub>O, m<sup>2</sup>, 2^8 and ~1</p>', 'H2O, m2, 2^8 and ~1'],
  ['[a (b)](https://x.org/a_(b))', '<p><a href="https://x.org/a_(b)">a (b)</a></p>', 'a (b)'],
  [
    '[[1] x](#r-1), ![a map](m.png)',
    '<p><a href="#r-1">[1] x</a>, <img alt="a map" src="m.png"/></p>',
    '[1] x, a map',
  ],
  [
    'see [AU-02](#au-2), [AC-02(03)](#ac-2.3)',
    '<p>see <a href="#au-2">AU-02</a>, <a href="#ac-2.3">AC-02(03)</a></p>',
    'see AU-2, AC-2(3)',
  ],
  [
    '[AU-02a](#au-2_smt.a), [the **old** one](#ac-9)',
    '<p><a href="#au-2_smt.a">AU-02a</a>, <a href="#ac-9">the <b>old</b> one</a></p>',
    'AU-2a, the old one',
  ],
  ['one\ntwo\n\nthree', '<p>one\n two</p><p>three</p>', 'one two\n\nthree'],
  [
    'of:\n\n- red\n- *blue*\n  - dark',
    '<p>of:</p><ul><li>red</li><li><p><em>blue</em></p><ul><li>dark</li></ul></li></ul>',
    'of:\n\n- red\n- blue\n- dark',
  ],
  ['1. wick\n1. oil', '<ol><li>wick</li><li>oil</li></ol>', '1. wick\n2. oil'],
  [
    '| A | B |\n|---|:-:|\n| *x* | |\n| y | z |',
    '<table><tr><th>A</th><th>B</th></tr><tr><td><em>x</em></td><td/></tr><tr><td>y</td><td><p>z</p></td></tr></table>',
    'A | B\nx |\ny | z',
  ],
  [
    '## Head\n\n> quoted\n\n```\na  b\n c\n```',
    '<h2>Head</h2><blockquote><p>quoted</p></blockquote><pre>a  b\n c</pre>',
    'Head\n\nquoted\n\na b\nc',
  ],
  ['one\\\ntwo<br/>three &lt; &amp;', '<p>one<br/>two<br/>three &lt; &amp;</p>', 'one\ntwo\nthree < &'],
  // What only looks like markup.
  [
    '<then> 5 < 6, [x]: y, a_b_c, 2 * 3 * 4, C:\\Lamps',
    '<p>&lt;then> 5 &lt; 6, [x]: y, a_b_c, 2 * 3 * 4, C:\\Lamps</p>',
    '<then> 5 < 6, [x]: y, a_b_c, 2 * 3 * 4, C:\\Lamps',
  ],
  ['    deep\n---\nnot', '<p>deep --- not</p>', 'deep --- not'],
];

markup('JSON and XML of one catalog give the same plain text', () => {
  for (const [markdown, xml, text] of texts) {
    const [json, other] = [ofJson(markdown, markdown), ofXml(xml, xml)];
    assert.is(json.controls[0]!.guidance, text, markdown);
    assert.equal(json, other, markdown);
    // A statement has paragraphs on one line, but rows, items and broken lines on lines of their own.
    const lines = /[^\n]\n[^\n]/.test(text) ? text.replace(/\n+/g, '\n') : text.replaceAll('\n\n', ' ');
    assert.is(json.controls[0]!.statement, `a. ${lines}`);
  }
});

markup('parameters stay what they are inside markup, in every field of one line', () => {
  const insert = '{{ insert: param, _oil_ }}';
  const oil = '[Assignment: organization-defined *fine* oil]';
  const json = ofJson(`**${insert}** | {{ _oil_ }}`, `- [${insert}](#x)`, {
    title: '1. *Lamps* - and **{{ no }}** `x`',
    label: '\\*fine\\* oil',
  });
  const element = '<insert type="param" id-ref="_oil_"/>';
  const xml = ofXml(
    `<p><strong>${element}</strong> | ${element}</p>`,
    `<ul><li><a href="#x">${element}</a></li></ul>`,
    { title: '1. <em>Lamps</em> - and <b>{{ no }}</b> <code>x</code>', label: '*fine* oil' },
  );
  assert.equal(json, xml);
  const [read] = json.controls;
  assert.is(read!.title, '1. Lamps - and {{ no }} x');
  assert.is(read!.statement, `a. ${oil} | ${oil}`);
  assert.is(read!.guidance, `- ${oil}`);
});

markup('a text that only a parser for hours could read is refused', () => {
  const read = (text: string) => refusal('oscal-catalog', () => parseOscalCatalog(jsonCatalog(text, '')));
  for (const text of ['[*a'.repeat(60_000), '>'.repeat(5000), '- '.repeat(3000), `${' '.repeat(90)}- x`])
    assert.match(read(text), /marks of Markdown, or nest too deep$/);
});

markup.run();
