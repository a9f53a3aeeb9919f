import * as assert from 'uvu/assert';
import { readXml, textOf, type XmlNode } from '../../src/read/xml.ts';
import { suite } from '../support/harness.ts';

const test = suite('XML as small trees');

test('a visitor gets the trees that it asks for, the text around them and every comment', () => {
  const events: string[] = [];
  const names = (around: { name: string }[]) => around.map(({ name }) => name).join('/');
  const source = `<!--before--><a xmlns="u"><b id="1"><c>x<d/>y</c>z<!--in--></b>w<skip><b/><c>no</c></skip>
    <e><b><b/></b></e></a>`;
  readXml(Buffer.from(source), {}, () => ({
    visit: ({ name }) => (name === 'b' ? 'tree' : name === 'skip' ? 'skip' : 'children'),
    tree: (node: XmlNode, around) => {
      events.push(`tree ${names(around)}/${node.name} ${node.uri} ${node.children.length} ${textOf(node)}`);
    },
    text: (text, around) => {
      if (text.trim() !== '') events.push(`text ${names(around)} ${text}`);
    },
    comment: (text, around) => events.push(`comment ${names(around)} ${text}`),
  }));
  assert.equal(events, [
    'comment  before',
    'comment a/b in',
    'tree a/b u 2 xyz',
    'text a w',
    'tree a/e/b u 1 ',
  ]);
});

test.run();
