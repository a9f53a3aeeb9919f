import { SaxesParser } from 'saxes';

// An independent reading of scan results: it shares no code with the service, and knows the one thing that matters.

const rank = (result: string) =>
  result === 'fail' ? 0 : result === 'pass' || result === 'fixed' ? 2 : result === 'notapplicable' ? 3 : 1;
const statuses = ['open', 'not_reviewed', 'not_a_finding', 'not_applicable'] as const;

/** The status of each rule in the results: by rule id from `SV-` on; the worst where one comes more than once (rule D29.2). */
export function readStatuses(
  xml: string,
): Map<string, { status: (typeof statuses)[number]; results: string[] }> {
  const found = new Map<string, string[]>();
  const stack: string[] = [];
  let id = '';
  let text: string | null = null;
  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', ({ local, attributes }) => {
    stack.push(local);
    if (local === 'rule-result') id = attributes.idref!.value.replace(/^xccdf_[^_]+_rule_/, '');
    if (local === 'result' && stack.at(-2) === 'rule-result') text = '';
  });
  parser.on('text', (part) => {
    if (text !== null) text += part;
  });
  parser.on('closetag', () => {
    stack.pop();
    if (text === null) return;
    found.set(id, [...(found.get(id) ?? []), text.trim()]);
    text = null;
  });
  parser.write(xml).close();
  return new Map(
    [...found].map(([ruleId, results]) => [
      ruleId,
      { status: statuses[Math.min(...results.map(rank))]!, results },
    ]),
  );
}
