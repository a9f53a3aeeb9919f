import { path } from './components.tsx';

const names: Record<string, string> = {
  'nist-800-53': 'NIST SP 800-53',
  'nist-800-171': 'NIST SP 800-171',
  'dod-8500': 'DoD 8500.2',
  cci: 'CCI',
};

/** What a framework is called; one of a site's own by its key. */
export function frameworkName(framework: string): string {
  return names[framework] ?? framework;
}

/** The page that lists the controls of a catalog. */
export function catalogHref(framework: string): string {
  return framework === 'cci' ? '/ccis' : path('controls', framework);
}

/** The page of a control, or null: a framework of a site's own has none. */
export function controlHref(framework: string, identifier: string): string | null {
  if (framework === 'cci') return path('ccis', identifier);
  return Object.hasOwn(names, framework) ? path('controls', framework, identifier) : null;
}
