import * as assert from 'uvu/assert';
import { classOf } from '../../../importers/guidance/roles/classes.ts';
import { findProducts, foldTitle, type Product } from '../../../importers/guidance/roles/products.ts';
import { suite } from '../../support/harness.ts';

const classes = suite('Which class and product a title of a STIG names');

const ending = 'Security Technical Implementation Guide';

// Titles of products that no other test has.
const named: [title: string, technologyClass: string | undefined][] = [
  ['IBM z/VM Using CA VM:Secure', 'mainframes'],
  ['Cisco ISE NAC', 'networks'],
  ['F5 BIG-IP TMOS ALG', 'networks'],
  ['HPE Aruba Networking SD-WAN Edge', 'networks'],
  ['EnterpriseDB Postgres Advanced Server (EPAS)', 'databases'],
  ['SAP HANA', 'databases'],
  ['NGINX', 'applications and web servers'],
  ['Application Programming Interface (API)', 'applications and web servers'],
  ['Central Log Server', 'security software'],
  ['Microsoft Entra ID', 'operating systems'],
  ['Nutanix Acropolis GPOS', 'operating systems'],
  ['TOSS 4', 'operating systems'],
  ['Microsoft Edge', 'desktop software'],
  ['Traditional Checklist', undefined],
];

classes('by its words', () => {
  for (const [title, expected] of named)
    assert.is(classOf(foldTitle(`${title} ${ending}`), null)?.name, expected, title);
});

classes('by the commodity of its product, of several classes with it the most general', () => {
  const of = (commodity: string) => classOf(foldTitle(`AlmaLinux OS 9 ${ending}`), commodity)?.name;
  assert.is(of('43233004'), 'operating systems');
  assert.is(of('43232917'), 'virtualization');
  assert.is(of('43232304'), 'databases');
  assert.is(of('1'), undefined);
});

classes('an edge of a network is no browser', () => {
  const browser: Product = { example: 'Web browser software', commodityCode: '43232705', usages: [] };
  const productOf = (name: string) => (name === 'web browser software' ? browser : undefined);
  assert.equal(findProducts(foldTitle('VMware NSX Edge'), productOf), []);
});

classes.run();
