import type { XmlElement } from './xml.ts';

/** The message for scan results outside a checklist (rule D29.5). */
export const scanResults = 'scan results belong to a checklist, not to the catalog';

/** Some tools write no namespace. */
const namespace = /^(?:http:\/\/checklists\.nist\.gov\/xccdf\/1\.[12])?$/;

/** Whether an element may be of XCCDF, whatever its version. */
export const isXccdf = (uri: string) => namespace.test(uri);

/** True for the element with the results of a scan, in a benchmark, a report (ARF) or alone. */
export function isTestResult({ name, uri }: XmlElement): boolean {
  return name === 'TestResult' && isXccdf(uri);
}
