import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { SaxesParser } from 'saxes';
import * as assert from 'uvu/assert';
import { scanXml } from '../../importers/read/xml-scan.ts';
import { suite } from '../support/harness.ts';
import { hasReferenceData, reference } from '../support/reference.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

type Event = ['open', string, Record<string, string>] | ['text' | 'comment', string] | ['close'];

/** The events of a reader, with texts that follow each other joined. */
function collector() {
  const events: Event[] = [];
  return {
    events,
    ignoresText: false,
    open(name: string, attributes: Record<string, string>) {
      events.push(['open', name, { ...attributes }]);
    },
    text(text: string) {
      const last = events.at(-1);
      if (last?.[0] === 'text') last[1] += text;
      else if (text !== '') events.push(['text', text]);
    },
    close() {
      events.push(['close']);
    },
    comment(text: string) {
      events.push(['comment', text]);
    },
  };
}

/** What saxes makes of a document; null when it refuses it, or when it has a DOCTYPE. */
function bySaxes(text: string): Event[] | null {
  const parser = new SaxesParser({ xmlns: false, defaultXMLVersion: '1.0', forceXMLVersion: true });
  const into = collector();
  let isRefused = false;
  const refuse = () => {
    isRefused = true;
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('opentag', (tag) => into.open(tag.name, tag.attributes as Record<string, string>));
  parser.on('text', (part) => into.text(part));
  parser.on('cdata', (part) => into.text(part));
  parser.on('closetag', () => into.close());
  parser.on('comment', (text) => into.comment(text));
  parser.write(text).close();
  return isRefused || into.events.length === 0 ? null : inside(into.events);
}

/** Without the blanks around the root element, which saxes tells of and the scanner does not. */
function inside(events: Event[]): Event[] {
  let depth = 0;
  return events.filter(([type]) => {
    if (type === 'open') depth++;
    if (type === 'close') depth--;
    return type !== 'text' || depth > 0;
  });
}

/** What the scanner makes of it; null when it gives up. */
function byScan(text: string): Event[] | null {
  const into = collector();
  return scanXml(Buffer.from(text), into) ? into.events : null;
}

/** Where the scanner accepts a document, saxes does, and both tell the same. Gives whether it accepted. */
function agree(text: string): boolean {
  const scanned = byScan(text);
  if (scanned !== null)
    assert.ok(JSON.stringify(scanned) === JSON.stringify(bySaxes(text)), text.slice(0, 200));
  return scanned !== null;
}

const test = suite('the scanner of plain XML against saxes');

test('what it accepts is what saxes tells, in the smallest cases', () => {
  const accepted = [
    '<a/>',
    '<a></a>',
    '\n <a b="1" c=\'2"\' >\r\n\rx\r</a>\n',
    '<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet type="text/xsl"?><!-- c --><a>t<!-- d -->u</a><!-- e -->',
    '<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F512;&#xA0;&#13;</a>',
    '<a b="&lt;\u2019&#10;" c="x\ny\tz">\u2019\u{1f512}\u00e9</a>',
    '<a><![CDATA[<b> & ]]>]]&gt;<![CDATA[]]></a>',
    '<x:a xmlns:x="urn:x"><x:b x:c="d"/><b c="e"></b></x:a>',
    '<a\n  b="1"\n/>',
    '<a __proto__="1" constructor="2"/>',
    "<a b='>'>></a>",
  ];
  for (const text of accepted) assert.ok(agree(text), text);
});

test('it gives up at what saxes refuses, and at what it does not know', () => {
  const givenUp = [
    '',
    'x',
    '<a>',
    '<a></b>',
    '<a></a',
    '<a></a><b/>',
    '<a></a>x',
    'x<a/>',
    '<a>]]></a>',
    '<a b="1" b="2"/>',
    '<a b="<"/>',
    '<a b=1/>',
    '<a b/>',
    '<a b="1"c="2"/>',
    '<a>&nbsp;</a>',
    '<a>& </a>',
    '<a>&#0;</a>',
    '<a>&#xFFFF;</a>',
    '<a>&#xD800;</a>',
    '<a>\u0001</a>',
    '<a>\uffff</a>',
    '<a><!-- -- --></a>',
    '<a><!-- x ---></a>',
    '<!DOCTYPE a><a/>',
    '<![CDATA[x]]><a/>',
    '<a><?xml version="1.0"?></a>',
    '<a/><?xml version="1.0"?>',
    ' <?xml version="1.0"?><a/>',
    '<?xml version="1.1"?><a/>',
    '<a:b:c/>',
    '<1a/>',
    '<\u00e9/>',
    '<a b = "1"/>',
  ];
  for (const text of givenUp) assert.is(byScan(text), null, text);
});

const pieces = fc.constantFrom(
  ...[
    '<a>',
    '</a>',
    '<a/>',
    '<b c="d">',
    '</b>',
    '<',
    '>',
    '&',
    ';',
    '&lt;',
    '&#65;',
    '&#x',
    'x',
    ' ',
    '\n',
    '\r',
    '"',
  ],
  ...[
    "'",
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?p q?>',
    '<?xml version="1.0"?>',
    '=',
    '/',
    'é',
    '\u2019',
    '\ufffe',
    '\0',
  ],
  ...['<!DOCTYPE a>', 'xmlns:x="u"', '<x:a>', '</x:a>', '-', '?', '!', ']', '\t', '&amp;', '\u{1f512}'],
);

test('of any string of pieces of XML', () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      if (agree(parts.join(''))) accepted++;
      if (agree(`<a>${parts.join('')}</a>`)) accepted++;
    }),
    { numRuns: 10_000 },
  );
  assert.ok(accepted > 250, `${accepted} were accepted`);
});

test('of a benchmark with any one place of it changed', () => {
  const text = writeXccdf();
  let refused = 0;
  fc.assert(
    fc.property(
      fc.nat(text.length - 1),
      fc.nat(3),
      fc.constantFrom('', '<', '>', '&', '"', ' ', '\u2019', '/', '\u0001'),
      (at, cut, put) => {
        if (!agree(text.slice(0, at) + put + text.slice(at + cut))) refused++;
      },
    ),
    { numRuns: 2_000 },
  );
  assert.ok(refused > 200, `${refused} were given up`);
});

const onReal = hasReferenceData ? test : () => {};

onReal('of every real benchmark, none of which is beyond it', () => {
  for (const file of readdirSync(reference('xccdf'))) {
    const bytes = readFileSync(reference('xccdf', file));
    const text = bytes.toString().replace(/^\ufeff/, '');
    assert.ok(agree(text), file);
  }
});

onReal('of real benchmarks that are cut or damaged anywhere', () => {
  const text = readFileSync(reference('xccdf', 'U_Citrix_XenDesktop_7-x_StoreFront_V1R1_STIG.xml'), 'utf8');
  for (let at = 0; at < text.length; at += 193) {
    assert.not.ok(agree(text.slice(0, at)), `cut at ${at}`);
    agree(text.slice(0, at) + text.slice(at + 1));
    agree(`${text.slice(0, at)}<${text.slice(at)}`);
  }
});

test.run();
