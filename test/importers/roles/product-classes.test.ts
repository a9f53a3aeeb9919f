import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { classOf, rolesOf } from '../../../importers/guidance/roles/product-classes.ts';
import { isOccupationCode, responsibilityLevels } from '../../../importers/guidance/roles/role-record.ts';
import { readTable } from '../../../src/read/table.ts';
import { suite } from '../../support/harness.ts';
import { shipped } from '../../support/reference.ts';
import { rowsOf } from '../../support/tables.ts';

const test = suite('Classes of products');

// Title, the family of its requirements where it has one, class.
const stigs = `
  Red Hat Enterprise Linux 9                     |              | operating system
  Red Hat Enterprise Linux 9                     | SRG-OS-GPOS  | operating system
  Microsoft Windows Defender Firewall            |              | operating system
  Cisco IOS Switch L2S                           |              | network device
  Microsoft Windows Server Domain Name System    | SRG-APP-DNS  | network device
  F5 BIG-IP Local Traffic Manager                | SRG-NET-ALG  | network device
  Oracle Database 19c                            | SRG-APP-DB   | database
  Apache Server 2.4 Windows Site                 |              | web or application server
  Microsoft Exchange 2016 Edge Transport Server  | SRG-APP      | web or application server
  Microsoft Edge                                 | SRG-APP      | desktop application or browser
  Google Android 14 COBO                         |              | mobile device
  VMware vSphere 8.0 ESXi                        | SRG-OS-VMM   | virtualization or cloud
  Application Security and Development           | SRG-APP      | application development
  Active Directory Domain                        | SRG-OS       | directory or identity service
  Okta Identity as a Service                     |              | directory or identity service
  Acme Identity Manager PostgreSQL               |              | database
  IBM z/OS TSS                                   | SRG-OS-GPOS  | mainframe
  Network Infrastructure Policy                  |              | organization and policy
  Windowsill Planter                             | SRG-APP      | none
  Windowsill Planter                             |              | none`;

for (const [title, family, expected] of rowsOf(stigs))
  test(`${title} ${family}`, () => {
    const groupTitles = family === '' ? [] : [family!.replace(/^(SRG-[A-Z]+)/, '$1-000123')];
    assert.is(
      classOf(`${title} Security Technical Implementation Guide`, () => groupTitles) ?? 'none',
      expected,
    );
  });

test('the family of most requirements decides', () => {
  const groupTitles = [
    'SRG-APP-000001-DB-000001',
    'SRG-NET-000001-RTR-000001',
    'SRG-APP-000002-DB-000002',
    'x',
  ];
  assert.is(
    classOf('Planter', () => groupTitles),
    'database',
  );
});

test('both tables have the same classes, and roles name what O*NET and NICE have', () => {
  const read = (...path: string[]) => readFileSync(shipped('roles', ...path), 'utf8');
  const columnOf = (name: string, column: number) =>
    new Set(
      readTable(read(name))
        .slice(1)
        .map(({ cells }) => cells[column]!),
    );
  const classes = columnOf('classes.csv', 1);
  const withRoles = columnOf('class-roles.csv', 0);
  assert.equal([...classes].sort(), [...withRoles].sort());
  assert.is(classes.size, 11);
  const occupations = new Set(read('onet', 'Occupation Data.txt').match(/^\d{2}-\d{4}\.\d{2}/gm));
  const workRoles = new Set(read('nice-work-roles.json').match(/[A-Z]{2}-WRL-\d{3}/g));
  for (const productClass of classes) {
    const roles = rolesOf(productClass);
    assert.ok(roles.length >= 2 && roles.length <= 4, productClass);
    assert.is(new Set(roles.map((role) => role.occupationCode)).size, roles.length, productClass);
    assert.is(roles[0]!.responsibilityLevel, 'Primary', productClass);
    for (const { occupationCode, workRoleId, confidenceScore, responsibilityLevel, mappingReason } of roles) {
      assert.ok(isOccupationCode(occupationCode) && occupations.has(occupationCode), occupationCode);
      assert.ok(workRoles.has(workRoleId!), String(workRoleId));
      assert.ok(confidenceScore > 0 && confidenceScore <= 1, productClass);
      assert.ok(responsibilityLevels.includes(responsibilityLevel), responsibilityLevel);
      assert.match(mappingReason, /^[A-Z].{20,}\.$/);
    }
  }
});

test.run();
