const titles: Record<string, string> = {
  'nist-800-53': 'NIST SP 800-53',
  'nist-800-171': 'NIST SP 800-171',
  'dod-8500': 'DoD 8500.2',
  cci: 'CCI',
};

/** The name of a framework; its key for a site's own. */
export function frameworkTitle(framework: string): string {
  return titles[framework] ?? framework;
}
