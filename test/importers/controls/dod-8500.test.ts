import * as assert from 'uvu/assert';
import { parseDod8500 } from '../../../importers/controls/dod-8500.ts';
import { parseDiacapMap } from '../../../importers/crosswalk/diacap.ts';
import { suite, suiteIf } from '../../support/harness.ts';
import { referenceData } from '../../support/reference.ts';
import { told } from '../../support/told.ts';
import { noControls } from '../../support/words.ts';
import { bytesOf, catalogOf, controlOf, digest, pairsOf, refusal, treeOf } from './support.ts';

const iaControl = (number: string, levels = '<MAC>MACII</MAC>', more: Record<string, string> = {}) => {
  const texts = {
    CONTROL_NAME: 'Lantern',
    SUBJECT_AREA: 'Harbor Defense',
    IMPACT_CODE: 'Low',
    DESCRIPTION: 'A lantern burns.',
    THREAT: 'Dark.',
    ...more,
  };
  const elements = Object.entries(texts).map(([name, text]) => `<${name}>${text}</${name}>`);
  return `<IACONTROL><CONTROL_NUMBER>${number}</CONTROL_NUMBER><MACCONF>${levels}</MACCONF>${elements.join('')}</IACONTROL>`;
};
const importFile = (...controls: string[]) =>
  `<IMPORT_FILE xmlns="urn:FindingImport">${controls.join('')}</IMPORT_FILE>`;
const read = (...controls: string[]) => parseDod8500(treeOf(importFile(...controls)));

const controls = suite('IA controls of DoD 8500.2');

controls('levels have one form and order, texts keep their lines without indentation', () => {
  const both = '<MAC>MACIII</MAC><CONF>SENSITIVE</CONF><MAC> MACI </MAC><CONF>CLASSIFIED</CONF>';
  const guidance = '\n  \u00b7\u00a0 Trim &lt;wicks&gt; \n\u00a0\n\n\t1.  Fill oil ';
  const result = read(
    iaControl('HDLA-2', both, { GENERAL_IMPLEMENTATION_GUIDANCE: guidance, IMPACT_CODE: 'High' }),
    iaControl('abcd-1', '<CONF>PUBLIC</CONF>'),
    iaControl('HDLA-1', ''),
  );
  const catalog = catalogOf(result);
  assert.equal([catalog.version, catalog.edition], ['DoDI 8500.2 (2003)', '']);
  assert.equal(told(catalog.controls, 'identifier', 'macLevels', 'confidentialityLevels', 'impactCode'), [
    'ABCD-1  PUBLIC Low',
    'HDLA-1   Low',
    'HDLA-2 MAC I,MAC III CLASSIFIED,SENSITIVE High',
  ]);
  const last = controlOf(catalog, 'HDLA-2');
  assert.is(last.guidance, '· Trim <wicks>\n\n1. Fill oil');
  assert.equal(
    [last.family, last.familyCode, last.threat, last.resources],
    ['Harbor Defense', 'HD', 'Dark.', ''],
  );
  assert.equal(result.records && result.warnings, [
    'HDLA-1 has neither a mission assurance category nor a confidentiality level',
  ]);
});

controls('a broken file is refused with one message', () => {
  const refused = (...each: string[]) => refusal('dod-8500', () => read(...each));
  assert.is(refused(), noControls);
  assert.is(refused(iaControl('HDLA-9')), 'the CONTROL_NUMBER "HDLA-9" of IACONTROL 1 is not an IA control');
  assert.is(refused('<IACONTROL/>'), 'the CONTROL_NUMBER "" of IACONTROL 1 is not an IA control');
  assert.is(refused(iaControl('HDLA-1'), iaControl('hdla-1')), 'HDLA-1 occurs twice');
  assert.is(refused(iaControl('HDLA-1', '<MAC>MACIV</MAC>')), 'HDLA-1 has the MAC "MACIV", which is unknown');
  assert.is(refused(iaControl('HDLA-1', '<CONF/>')), 'HDLA-1 has the CONF "", which is unknown');
  assert.match(
    refused(iaControl('HDLA-1', '', { IMPACT_CODE: 'low' })),
    /IMPACT_CODE "low", which is unknown$/,
  );
  for (const name of ['CONTROL_NAME', 'SUBJECT_AREA', 'DESCRIPTION', 'IMPACT_CODE'])
    assert.is(refused(iaControl('HDLA-1', '', { [name]: ' \u00a0\n' })), `HDLA-1 has no ${name}`);
});

controls.run();

const iac = (control: string, ...entries: [string, string][]) =>
  `<Iac control="${control}">${entries.map(([revision, text]) => `<NistControl revision="${revision}">${text}</NistControl>`).join('')}</Iac>`;
const readMap = (...entries: string[]) =>
  parseDiacapMap(treeOf(`<DiacapToRmf>${entries.join('')}</DiacapToRmf>`));

const map = suite('the DIACAP to RMF map');

map('gives pairs for Rev 3 and Rev 4, and passes over an entry with a control for its revision', () => {
  const result = readMap(
    iac('hdla-1', ['3', 'AC-2'], ['4', ' AC-02 (1) '], ['AC-2(1)', '']),
    iac('HDLB-1', ['4', 'AC-2']),
  );
  assert.equal(
    told(pairsOf(result), 'fromVersion', 'fromIdentifier', 'toVersion', 'toIdentifier', 'reference'),
    [
      'DoDI 8500.2 (2003) HDLA-1 Rev 3 AC-2 AC-2',
      'DoDI 8500.2 (2003) HDLA-1 Rev 4 AC-2(1) AC-02 (1)',
      'DoDI 8500.2 (2003) HDLB-1 Rev 4 AC-2 AC-2',
    ],
  );
  assert.equal(result.records && result.warnings, [
    'HDLA-1: an entry has AC-2(1) for its revision and no text; it was ignored',
  ]);
});

map('a broken map is refused with one message', () => {
  const refused = (...entries: string[]) => refusal('diacap-map', () => readMap(...entries));
  assert.is(refused(), 'the map has no pairs');
  assert.is(refused(iac('LAMP', ['4', 'AC-2'])), 'the control "LAMP" of Iac 1 is not in 8500.2');
  assert.is(refused(iac('HDLA-1', ['4', 'lamp'])), 'HDLA-1: "lamp" is not a control of 800-53');
  assert.is(refused(iac('HDLA-1', ['4', ''])), 'HDLA-1: "" is not a control of 800-53');
  assert.is(refused(iac('HDLA-1', ['5', 'AC-2'])), 'HDLA-1: AC-2 has the revision "5"');
});

map.run();

const real = suiteIf(referenceData, 'the files of DoD 8500.2');
if (real) {
  real('hold 157 controls in 8 subject areas, with clean texts', () => {
    const result = parseDod8500(treeOf(bytesOf('dod-8500', '8500controls.xml')));
    const { controls: all } = catalogOf(result);
    assert.equal([all.length, new Set(all.map((each) => each.family)).size], [157, 8]);
    assert.is(result.records && result.warnings.length, 1);
    for (const { identifier, statement, guidance, threat, resources } of all) {
      for (const text of [statement, guidance, threat, resources])
        assert.not.match(text, /[^\S\n ]| {2}|^ | $|\n{3}/m, identifier);
      assert.ok(statement !== '' && guidance !== '' && threat !== '' && resources !== '', identifier);
    }
    const { statement, guidance, threat, resources } = controlOf(catalogOf(result), 'ECCT-1');
    assert.is(
      [statement, guidance, threat, resources].map(digest).join(' '),
      '0686b1a1b0644a21 78c4e08599deb37b 63457395de32c9df 6402a91793eeb669',
    );
    assert.is(digest(controlOf(catalogOf(result), 'ECAR-3').statement), '0c96014b65f22843');
  });

  real('map 156 controls to Rev 3 and Rev 4', () => {
    const result = parseDiacapMap(treeOf(bytesOf('dod-8500', 'DiacapToRmf.xml')));
    const pairs = pairsOf(result);
    const ofVersion = (version: string) => pairs.filter((pair) => pair.toVersion === version).length;
    assert.equal([pairs.length, ofVersion('Rev 3'), ofVersion('Rev 4')], [651, 157, 494]);
    assert.is(new Set(pairs.map((pair) => pair.fromIdentifier)).size, 156);
    assert.is(result.records && result.warnings.length, 1);
  });

  real.run();
}
