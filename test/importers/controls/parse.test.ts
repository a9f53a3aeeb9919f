import * as assert from 'uvu/assert';
import { parseControlsJson, parseControlsText, parseSource } from '../../../importers/parse.ts';
import { textOf } from '../../../importers/read/xml-tree.ts';
import { readXml } from '../../../src/read/xml.ts';
import { suite } from '../../support/harness.ts';
import { control, oscalCatalog, oscalProfile } from './oscal-fixtures.ts';
import { treeOf } from './support.ts';

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
