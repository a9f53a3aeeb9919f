import * as assert from 'uvu/assert';
import type { BaselineRecord } from '../../../importers/controls/control-record.ts';
import { parseOscalProfile } from '../../../importers/controls/oscal-profile.ts';
import { suite } from '../../support/harness.ts';
import { oscalProfile } from './oscal-fixtures.ts';
import { recordsOf, refusal } from './support.ts';

const fixture = suite('OSCAL profiles');

const baselineOf = (value: unknown) => recordsOf(parseOscalProfile(value))[0] as BaselineRecord;

fixture('the title names the baseline', () => {
  const named = (title: string) => baselineOf(oscalProfile(['ac-1'], { title })).baseline;
  assert.is(named('NIST Special Publication 800-53 Revision 5 LOW IMPACT BASELINE'), 'low');
  const { version, edition } = baselineOf(oscalProfile(['ac-1']));
  assert.equal([version, edition], ['Rev 5.1.1', '2024-02-04T23:16:00.000Z']);
  assert.is(named('NIST SP 800-53B High-Impact Baseline'), 'high');
  assert.is(named('NIST Special Publication 800-53 Revision 5.1.1 PRIVACY BASELINE'), 'privacy');
  // One that is none of NIST's four has a name made of its title (rule D31).
  assert.is(named('FedRAMP Rev 5 High Baseline'), 'fedramp-rev-5-high-baseline');
  assert.is(
    named('FedRAMP NIST SP 800-53 HIGH IMPACT BASELINE'),
    'fedramp-nist-sp-800-53-high-impact-baseline',
  );
  assert.is(
    named('  (Überlay)  for\tlanterns, in the HARBOR — 2026! '),
    'überlay-for-lanterns-in-the-harbor-2026',
  );
  assert.is(named('x'.repeat(5000)), 'x'.repeat(200));
  const refused = (title: string) =>
    refusal('oscal-profile', () => parseOscalProfile(oscalProfile(['ac-1'], { title })));
  assert.is(refused('— ?! —'), 'the title "— ?! —" gives the baseline no name');
  assert.is(refused('Low'), 'the title "Low" would name the baseline as one of NIST\'s');
});

fixture('a named baseline is of the revision that its catalog or its title says, else of every one', () => {
  const revision = (more: { title?: string; href?: string; resource?: object }) => {
    const value = oscalProfile(['ac-1'], { title: more.title ?? 'Lantern overlay', version: '5.0' });
    Object.assign(value.profile.imports[0]!, { href: more.href ?? '#c' });
    const resources = more.resource ? [{ uuid: 'c', ...more.resource }] : [];
    return baselineOf({ profile: { ...value.profile, 'back-matter': { resources } } }).version;
  };
  assert.is(revision({}), '', 'its own version 5.0 is none of the catalog');
  assert.is(revision({ title: 'Lantern Rev 4 overlay' }), 'Rev 4');
  assert.is(revision({ title: 'Lantern overlay Rev 2' }), '');
  assert.is(revision({ href: 'NIST_SP-800-53_rev4_catalog.json' }), 'Rev 4');
  assert.is(revision({ title: 'Lantern Rev 5', href: 'https://x/sp-800-53r4.json' }), 'Rev 4');
  assert.is(revision({ resource: { title: 'NIST Special Publication (SP) 800-53 revision 5' } }), 'Rev 5');
  const rlinks = [{ href: 'NIST_SP-800-53_rev5_catalog.json' }];
  assert.is(revision({ resource: { rlinks } }), 'Rev 5');
  assert.is(revision({ href: '#other', resource: { rlinks } }), '', 'another resource');
});

fixture('a profile with ids that are not of 800-53 is resolved over catalogs, as others are', () => {
  const title = 'Lantern overlay';
  const record = (...ids: string[]) => {
    const value = oscalProfile(ids, { title });
    Object.assign(value.profile.imports[0]!, { href: 'sp800-53.json' });
    return recordsOf(parseOscalProfile(value))[0]!.type;
  };
  assert.equal([record('ac-1', 'ac-2'), record('ac-1', 'lantern-7')], ['baseline', 'profile']);
});

fixture('a broken profile is refused with one message', () => {
  const refused = (value: unknown) => refusal('oscal-profile', () => parseOscalProfile(value));
  const importing = (more: object) => {
    const value = oscalProfile(['ac-1']);
    Object.assign(value.profile.imports[0]!, more);
    return refused(value);
  };
  assert.is(refused({ profile: [] }), '/profile: expected object, received array');
  assert.is(refused(oscalProfile([])), 'the profile lists no controls');
  assert.is(importing({ 'include-controls': [{ matching: [{}] }] }), 'the profile lists no controls');
  const children = [{ 'with-ids': ['ac-1'], 'with-child-controls': 'maybe' }];
  assert.match(importing({ 'include-controls': children }), /with-child-controls: /);
  const many = Array.from({ length: 10_001 }, (_, index) => `ac-${index}`);
  assert.match(importing({ 'include-controls': [{ 'with-ids': many }] }), /^more than 10000 controls or/);
  assert.is(
    refused({ profile: { ...oscalProfile([]).profile, imports: [] } }),
    'the profile lists no controls',
  );
});

fixture.run();
