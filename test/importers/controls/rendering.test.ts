import * as assert from 'uvu/assert';
import { createRenderProse, type Parameter } from '../../../importers/controls/parameters.ts';
import { excerpt } from '../../../importers/read/source-text.ts';
import { suite } from '../../support/harness.ts';
import { refusal } from './support.ts';

const parameter = (stated: Partial<Parameter>): Parameter => ({
  label: '',
  choices: [],
  many: false,
  aggregates: [],
  ...stated,
});

function rendererOf(stated: Record<string, Partial<Parameter>>) {
  const warnings: string[] = [];
  const parameters = new Map(Object.entries(stated).map(([id, each]) => [id, parameter(each)]));
  return { render: createRenderProse(parameters, warnings), warnings };
}

const parameters = suite('parameters in prose');

parameters('a label becomes an assignment, once organization-defined', () => {
  const { render } = rendererOf({
    plain: { label: 'interval' },
    full: { label: 'organization-defined interval' },
    rev4: { label: 'Assignment; organization-defined interval' },
    inside: { label: 'interval or organization-defined event' },
    empty: {},
  });
  const text = (id: string) => render(`Wait {{ insert: param, ${id} }}.`, 'a');
  for (const id of ['plain', 'full', 'rev4'])
    assert.is(text(id), 'Wait [Assignment: organization-defined interval].');
  assert.is(
    text('inside'),
    'Wait [Assignment: organization-defined interval or organization-defined event].',
  );
  assert.is(text('empty'), 'Wait [Assignment: organization-defined value].');
  assert.is(render('{{plain}} and {{ insert:param,plain }}', 'a').split(' and ').length, 2);
});

parameters('choices become a selection, with the assignments inside them', () => {
  const { render } = rendererOf({
    one: { choices: ['ring', ' knock  twice '] },
    many: { many: true, choices: ['ring', 'wait {{ insert: param, time }} ', '{{ insert: param, one }}'] },
    time: { label: 'time' },
  });
  assert.is(render('{{ insert: param, one }}', 'a'), '[Selection: ring; knock twice]');
  assert.is(
    render('{{ insert: param, many }}', 'a'),
    '[Selection (one or more): ring; wait [Assignment: organization-defined time]; [Selection: ring; knock twice]]',
  );
});

parameters('an aggregate without a label is worded as the first that it sums up', () => {
  const { render } = rendererOf({
    both: { aggregates: ['first', 'second'] },
    named: { label: 'doors', aggregates: ['first'] },
    first: { label: 'gates' },
    second: { label: 'walls' },
  });
  assert.is(render('{{ insert: param, both }}', 'a'), '[Assignment: organization-defined gates]');
  assert.is(render('{{ insert: param, named }}', 'a'), '[Assignment: organization-defined doors]');
});

parameters('a parameter that is defined nowhere is one warning', () => {
  const { render, warnings } = rendererOf({});
  assert.is(render('{{ insert: param, x }} {{ insert: param, x }}', 'a.1').split('[').length, 3);
  assert.equal(warnings, ['a.1: the parameter x is not defined']);
});

parameters('inserts that are none, circles and growth are refused', () => {
  const chain = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [`p${n}`, { label: `{{ insert: param, p${n + 1} }}` }]),
  );
  const laughs = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [
      `p${n}`,
      { choices: Array.from({ length: 20 }, () => `{{ insert: param, p${n + 1} }}`) },
    ]),
  );
  const { render } = rendererOf({
    self: { label: 'x {{ insert: param, self }}' },
    ping: { choices: ['{{ insert: param, pong }}'] },
    pong: { aggregates: ['ping'] },
  });
  const refused = (run: () => string) => refusal('other', run);
  assert.is(
    refused(() => render('a {{ insert: control, ac-1 }}', 'p.1')),
    'p.1: an insert is not understood: {{ insert: control, ac-1 }}',
  );
  assert.match(
    refused(() => render('{{ }}', 'p')),
    /not understood/,
  );
  assert.is(
    refused(() => render('{{ self }}', 'p\n')),
    'p: the parameter self contains itself',
  );
  assert.match(
    refused(() =>
      rendererOf({ ping: { choices: ['{{pong}}'] }, pong: { aggregates: ['ping'] } }).render('{{ping}}', 'p'),
    ),
    /ping contains itself/,
  );
  assert.match(
    refused(() => rendererOf(chain).render('{{p0}}', 'p')),
    /nested deeper than 16/,
  );
  assert.match(
    refused(() => rendererOf(laughs).render('{{p0}}', 'p')),
    /grow beyond \d+ characters/,
  );
});

parameters.run();

const texts = suite('texts of controls');

texts('messages show a text on one line, cut, without control characters', () => {
  assert.is(excerpt('a\u0000b\u001b[31m\nc\u0085\ud800'), 'a b [31m c \ufffd');
  assert.is(excerpt('😀'.repeat(100), 5), '😀'.repeat(5));
  assert.is(excerpt('x'.repeat(1_000_000)).length, 60);
});

texts.run();
