import { readdirSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { isCciList } from '../../../importers/controls/cci-list.ts';
import { parseControlsJson, parseControlsText, parseSource } from '../../../importers/parse.ts';
import { textOf } from '../../../importers/read/xml-tree.ts';
import { readXml, type XmlElement } from '../../../src/read/xml.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { reference, referenceData } from '../../support/reference.ts';
import { control, oscalCatalog, oscalProfile } from './oscal-fixtures.ts';
import { bytesOf, jsonOf, treeOf } from './support.ts';

const test = suite('sources about controls');

const parseXml = (source: string | Uint8Array) => {
  const { kind, content } = parseSource(Buffer.from(source));
  return { kind, records: content?.type === 'controls' ? content.records : null };
};

test('the kind is found from the content', () => {
  assert.is(parseControlsJson(oscalCatalog([control('ac-1')]))?.kind, 'oscal-catalog');
  assert.is(parseControlsJson(oscalProfile(['ac-1']))?.kind, 'oscal-profile');
  assert.is(parseControlsJson({ documents: [], elements: [], relationships: [] })?.kind, 'cprt');
  for (const other of [null, 0, '', [], {}, [{ catalog: {} }], { catalog: 'x' }, { elements: [] }])
    assert.is(parseControlsJson(other), null);
  assert.is(parseControlsText('framework,version,identifier\nsite,1,x')?.kind, 'controls-csv');
  assert.is(parseControlsText('sp800_171r2,sp800_53r4\n3.1.1,AC-2')?.kind, 'mappings-csv');
  for (const other of ['', 'a,b\n1,2', '# Lanterns\n', 'framework'])
    assert.is(parseControlsText(other), null);
  for (const other of ['<catalog/>', '<IMPORT_FILE/>', '<x/>'])
    assert.equal(parseXml(other), { kind: 'other', records: null });
});

test('a tree holds the text of the document, and nothing but the document', () => {
  const text =
    '<?xml version="1.0"?><?pi x?><!-- c --><r>\r\n 007 <i/>&lt;t&gt; &amp;lt; &#38;amp; &#x41;&#x1F600;<![CDATA[<x> &amp; ]]>é<!-- c --> ]]&gt;</r>';
  let events = '';
  readXml(Buffer.from(text), {}, () => ({
    open: () => {},
    text: (part) => {
      events += part;
    },
    close: () => {},
  }));
  assert.is(textOf(treeOf(text)), events);
  assert.is(textOf(treeOf(`<r>${'&amp;'.repeat(300_000)}</r>`)).length, 300_000);
  const attributes = treeOf('<p:r xmlns:p="u" a="1 &amp; &#10;2" b=" 0x10 "/>');
  assert.equal(
    [attributes.name, attributes.attributes.a, attributes.attributes.b],
    ['r', '1 & \n2', ' 0x10 '],
  );
  for (const name of ['__proto__', 'constructor', 'prototype'])
    assert.equal(
      treeOf(`<r><${name} ${name}="1"/></r>`).children.map((child) => (child as { name: string }).name),
      [name],
    );
  assert.is(({} as { polluted?: unknown }).polluted, undefined);
});

test.run();

const real = suiteIf(referenceData, 'the reference data about controls');
if (real) {
  real('each file is of the kind that its folder says', () => {
    const outcome = (result: { kind: string; records: unknown[] | null } | null) =>
      result === null
        ? 'none'
        : `${result.kind} ${result.records === null ? 'skipped' : result.records.length}`;
    const seen: Record<string, string> = {};
    for (const name of readdirSync(reference('oscal'))) {
      const xml = name.endsWith('.xml');
      seen[name] = outcome(xml ? parseXml(bytesOf('oscal', name)) : parseControlsJson(jsonOf('oscal', name)));
    }
    for (const name of ['8500controls.xml', 'DiacapToRmf.xml'])
      seen[name] = outcome(parseXml(bytesOf('dod-8500', name)));
    const counts = Object.values(seen).reduce(
      (all, each) => all.set(each, (all.get(each) ?? 0) + 1),
      new Map<string, number>(),
    );
    assert.equal(Object.fromEntries(counts), {
      'oscal-catalog 1': 4,
      'oscal-profile 1': 7,
      'dod-8500 1': 1,
      'diacap-map 1': 1,
    });
    let root: XmlElement | null = null;
    readXml(bytesOf('cci', 'U_CCI_List.xml'), {}, (element) => {
      root = element;
      return null;
    });
    assert.ok(isCciList(root!));
    const [name] = readdirSync(reference('xccdf'));
    assert.is(parseXml(bytesOf('xccdf', name!)).kind, 'xccdf');
    for (const parts of [
      ['nice', 'dcwf-extended-pretty.json'],
      ['regulatory', 'fedramp', 'FRMR.documentation.json'],
    ])
      assert.is(parseControlsJson(jsonOf(...parts)), null);
  });

  real.run();
}
