/** Our table of NICE work roles by O*NET occupation, as none is published (rule F9.2). Pages show the first role. */
const workRoles = new Map<string, string[]>([
  ['11-3021.00', ['OG-WRL-014']],
  ['15-1211.00', ['DD-WRL-006']],
  ['15-1212.00', ['PD-WRL-001', 'PD-WRL-007']],
  ['15-1221.00', ['DD-WRL-008']],
  ['15-1231.00', ['IO-WRL-007']],
  ['15-1232.00', ['IO-WRL-007']],
  ['15-1241.00', ['DD-WRL-001', 'IO-WRL-004']],
  ['15-1241.01', ['IO-WRL-004']],
  ['15-1242.00', ['IO-WRL-002']],
  ['15-1243.00', ['IO-WRL-002']],
  ['15-1243.01', ['IO-WRL-002']],
  ['15-1244.00', ['IO-WRL-005', 'IO-WRL-004']],
  ['15-1251.00', ['DD-WRL-003']],
  ['15-1252.00', ['DD-WRL-003']],
  ['15-1253.00', ['DD-WRL-005', 'DD-WRL-007']],
  ['15-1254.00', ['DD-WRL-003']],
  ['15-1299.03', ['IO-WRL-003']],
  ['15-1299.04', ['PD-WRL-007']],
  ['15-1299.05', ['DD-WRL-004']],
  ['15-1299.06', ['PD-WRL-002']],
  ['15-1299.08', ['DD-WRL-002']],
  ['15-1299.09', ['OG-WRL-011']],
]);

/** The NICE work roles of an occupation; pages show the first. */
export function workRolesOf(occupationCode: string): string[] {
  return workRoles.get(occupationCode) ?? [];
}

/** Whether a work role supports system operators with security work. */
export function isSecurityRole(workRoleId: string): boolean {
  return /^PD-WRL-/.test(workRoleId) || workRoleId === 'OG-WRL-012' || workRoleId === 'OG-WRL-014';
}
