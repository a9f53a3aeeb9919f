import * as assert from 'uvu/assert';
import { testApp } from '../support/app.ts';
import { oscalCatalog, oscalProfile } from '../support/control-sources.ts';
import { suite } from '../support/harness.ts';
import { loadPage } from '../support/pages.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const pages = suite('Pages: values of parameters');

const insert = (id: string) => `{{ insert: param, ${id} }}`;
/** A control whose parameters are these words, each inserted once, not in the order in which they are declared. */
function catalog(words: Record<string, string>): string {
  const value = JSON.parse(oscalCatalog([{ id: 'ac-2' }]));
  const params = Object.entries(words).map(([id, label]) => ({ id, label }));
  const prose = Object.keys(words).toReversed().map(insert).join(' and ');
  Object.assign(value.catalog.groups[0].controls[0], { params, parts: [{ name: 'statement', prose }] });
  return JSON.stringify(value);
}

/** The values at the places of the statement of AC-2, as shown. */
async function valuesAt(words: Record<string, string>, values: Record<string, string>): Promise<string[][]> {
  const folder = scratchFolder();
  const t = await testApp([
    put(folder, 'catalog.json', catalog(words)),
    put(folder, 'profile.json', oscalProfile('high', ['ac-2'], '5.1.1', values)),
  ]);
  const { html } = await loadPage(t, '/controls/nist-800-53/AC-2');
  t.db.close();
  return html
    .split(' class="parameter">')
    .slice(1)
    .map((place) => [...place.matchAll(/<dt>high<\/dt><dd>(.*?)<\/dd>/g)].map((each) => each[1]!));
}

pages('each place of the statement has its value, unless it may be that of another parameter', async () => {
  const words = { 'ac-02_odp.01': 'lit', 'ac-02_odp.02': 'lit', 'ac-02_odp.03': 'trimmed' };
  const one = { 'ac-02_odp.01': 'always', 'ac-02_odp.03': 'daily' };
  assert.equal(await valuesAt(words, one), [['daily'], [], []]);
  assert.equal(await valuesAt(words, { ...one, 'ac-02_odp.02': 'at night' }), [['daily'], [], []]);
  const same = [['daily'], ['always'], ['always']];
  assert.equal(await valuesAt(words, { ...one, 'ac-02_odp.02': 'always' }), same);
});

pages('words of parameters that are no expression, and very long ones, are plain text', async () => {
  for (const word of ['oil', '(?<', '[z-a', '\\', 'x'.repeat(6000), 'x'.repeat(200_000)]) {
    const words = { 'ac-02_odp.01': word, 'ac-02_odp.02': `${word} and ${word}` };
    const values = await valuesAt(words, { 'ac-02_odp.01': 'whale' });
    assert.equal(values, word.length > 6000 ? [] : [[], ['whale']], word.slice(0, 20));
  }
});

pages.run();
