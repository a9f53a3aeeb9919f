import type { z } from '@hono/zod-openapi';
import * as assert from 'uvu/assert';
import { textOrTexts, wordList } from '../../src/http/arrays.ts';
import {
  flag,
  format,
  oneWord,
  paging,
  pagingWithoutMaximum,
  positiveInteger,
  requestText,
  search,
  since,
  sorting,
} from '../../src/http/schema.ts';
import { suite } from '../support/harness.ts';

// The spellings of a parameter, once for each helper that reads one. Which parameter of which route is read by a helper
// is tried by the table in test/openapi.test.ts.
const helpers = suite('Parameters of requests');

/** A value of a request (several where it is repeated), and what the helper makes of it. */
type Taken = [given: unknown, value: unknown];

function reads(
  name: string,
  schema: z.ZodType,
  { taken, refused }: { taken: Taken[]; refused: Record<string, unknown[]> },
) {
  helpers(`${name}: what it accepts and what it rejects`, () => {
    for (const [given, value] of taken) assert.equal(schema.parse(given), value, JSON.stringify(given));
    for (const [message, all] of Object.entries(refused))
      for (const given of all) {
        const { error } = schema.safeParse(given);
        assert.is(error?.issues[0]?.message, message, JSON.stringify(given));
      }
  });
}

const notIntegers = [
  ...['', ' ', '0', '00', '-1', '-0', '+1', '1.5', '1.0', '1abc', 'abc', '0x10', '1e3', '1e308', '4,5'],
  ...[' 1', '1 ', '1\n', '1,000', '1_000', 'NaN', 'Infinity', 'null', 'true', '[]', '１', '٣', '²'],
  '9'.repeat(200),
];
const integer = {
  refused: {
    'page must be a decimal integer of at least 1': notIntegers,
    'page must be given once': [['1', '2']],
  },
};
const beyond = '9'.repeat(20);
reads('positiveInteger', positiveInteger('page'), {
  taken: [
    ['1', 1],
    ['007', 7],
    ['9007199254740993', Number.MAX_SAFE_INTEGER],
    [beyond, Number.MAX_SAFE_INTEGER],
  ],
  refused: { ...integer.refused, 'page must be given once': [undefined, ['1', '2']] },
});
reads('page of a listing', paging(20, 100).page, { taken: [[undefined, 1]], ...integer });
reads('page without a maximum', pagingWithoutMaximum.page, { taken: [[undefined, undefined]], ...integer });
reads('limit of a listing', paging(20, 100).limit, {
  taken: [
    [undefined, 20],
    ['99', 99],
    ['101', 100],
    [beyond, 100],
  ],
  refused: { 'limit must be a decimal integer of at least 1': notIntegers },
});
reads('limit without a maximum', pagingWithoutMaximum.limit, {
  taken: [
    [undefined, undefined],
    ['1000000', 1_000_000],
  ],
  refused: { 'limit must be a decimal integer of at least 1': notIntegers },
});

const long = (length: number) => ['x', 'ü', '😀', '%'].map((character) => character.repeat(length));
reads('search', search, {
  taken: [[undefined, undefined], ['', ''], ...long(200).map((text): Taken => [text, text])],
  refused: {
    'search must have at most 200 characters': [...long(201), ...long(500)],
    'search must be one text': [['a', 'b'], 7, null],
    'search must not contain NUL or lone surrogates': ['a\0b', '\ud800', '\udfff'],
  },
});
reads('requestText', requestText('hostName', 3), {
  taken: [['😀 x', '😀 x']],
  refused: {
    'hostName is required': [undefined],
    'hostName must have at most 3 characters': ['😀 xy'],
    'hostName must be one text': [['a', 'a'], {}],
  },
});
reads('textOrTexts', textOrTexts('stig', 3), {
  taken: [
    ['a,b', ['a,b']],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  ],
  refused: { 'stig must have at most 3 characters': ['abcd', ['a', 'abcd']] },
});

const roles = 'role must be one of: None, Member Server';
reads('oneWord', oneWord('role', ['None', 'Member Server']), {
  taken: [
    ['none', 'None'],
    [' MEMBER server ', 'Member Server'],
  ],
  refused: { [roles]: ['', 'Server', 'None,Member Server', ['None', 'None'], '__proto__', 'constructor'] },
});
reads('sorting', sorting(['title']).sort, {
  taken: [
    [undefined, undefined],
    ['Title', 'title'],
    ['-TITLE', '-title'],
  ],
  refused: { 'sort must be one of: title, -title': ['', '--title', 'DROP', ['title', 'title']] },
});

const severities = 'severity must be one or more of: high, medium, low';
reads('wordList', wordList('severity', ['high', 'medium', 'low']), {
  taken: [
    [undefined, undefined],
    ['HIGH, low', new Set(['high', 'low'])],
    [['low', 'low,mEDIUM'], new Set(['low', 'medium'])],
  ],
  refused: {
    [severities]: [
      ...['bogus', 'high,bogus', 'high,,low', '', ',', 'hig', 'CAT I', '1', 'high;low', '__proto__', '%'],
      ...['constructor', ['high', 'x'], 'low,'],
    ],
  },
});

reads('format', format(['cklb', 'csv']), {
  taken: [
    [undefined, 'cklb'],
    ['CSV', 'csv'],
  ],
  refused: {
    'Invalid format. Must be one of: cklb, csv': [
      ...['', 'pdf', 'cs', 'ckl,cklb', 'CSV2', '__proto__', 'toString', '0', '<script>'],
      ...[['csv', 'csv'], 7, null],
    ],
  },
});

reads('flag', flag('raw'), {
  taken: [
    [undefined, undefined],
    ['TRUE', true],
    ['false', false],
  ],
  refused: { 'raw must be true or false': ['', '1', 'yes', 'true,false', ' true', ['true', 'true']] },
});

reads('since', since, {
  taken: [
    ['2024-02-29', '2024-02-29'],
    ['0001-01-01', '0001-01-01'],
    ['2024-01-01T12:00:00', '2024-01-01'],
    ['2024-01-01T23:59:59.123+14:00', '2024-01-01'],
  ],
  refused: {
    'since must be a date in the form YYYY-MM-DD': [
      ...['', '2024', '2024-13-01', '2024-13-45', '2024-02-30', '2023-02-29', '2024-1-1', '01-02-2024'],
      ...['0000-00-00', '10000-01-01', '+2024-01-01', '1700000000', 'yesterday', '-1', '20240101'],
      ...['2024-01-01T', '2024-01-01T25:00:00Z', '2024-02-30T12:00:00Z', '2024-01-01T12:00:00+99:00'],
      ...['2024-01-01Z', 'T12:00:00Z', '2024-01-01 ', "2024-01-01'--", undefined],
      ['2024-01-01', '2024-01-02'],
    ],
  },
});

helpers.run();
