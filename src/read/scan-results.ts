import type { XmlElement, XmlHandler } from './xml.ts';

/** Said of the results of a scan wherever they are met (rule D29.5). */
export const scanResults = 'scan results belong to a checklist, not to the catalog';

/** Some tools write none. */
const namespace = /^(?:http:\/\/checklists\.nist\.gov\/xccdf\/1\.[12])?$/;

/** Whether an element may be of XCCDF, whatever its version. */
export const isXccdf = (uri: string) => namespace.test(uri);

/** True for the element that holds the results of a scan, whatever stands around it: a benchmark or a report (ARF). */
export function isTestResult({ local, uri }: XmlElement): boolean {
  return local === 'TestResult' && isXccdf(uri);
}

/** Looks for results in a document that is nothing else of ours. */
export class ResultsFinder implements XmlHandler {
  isFound = false;

  open(element: XmlElement): void {
    this.isFound ||= isTestResult(element);
  }

  text(): void {}

  close(): void {}
}
