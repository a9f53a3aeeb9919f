import { path } from './components.tsx';

const names: Record<string, string> = {
  'nist-800-53': 'NIST SP 800-53',
  'nist-800-171': 'NIST SP 800-171',
  'dod-8500': 'DoD 8500.2',
  cci: 'CCI',
};

/** The name of a framework; its key for a site's own. */
export function frameworkName(framework: string): string {
  return names[framework] ?? framework;
}

/** The page of a catalog's controls. */
export function catalogHref(framework: string): string {
  return framework === 'cci' ? '/ccis' : path('controls', framework);
}

/** The page of a control. */
export function controlHref(framework: string, identifier: string): string {
  return framework === 'cci' ? path('ccis', identifier) : path('controls', framework, identifier);
}
