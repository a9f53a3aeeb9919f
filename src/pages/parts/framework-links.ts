import { frameworkTitle } from '../../base/framework-title.ts';
import { path } from './components.tsx';

/** The name of a framework; its key for a site's own. */
export const frameworkName = frameworkTitle;

/** The page of a catalog's controls. */
export function catalogHref(framework: string): string {
  return framework === 'cci' ? '/ccis' : path('controls', framework);
}

/** The page of a control. */
export function controlHref(framework: string, identifier: string): string {
  return framework === 'cci' ? path('ccis', identifier) : path('controls', framework, identifier);
}
