import type { Child } from 'hono/jsx';
import { Facts, Lines } from '../parts/components.tsx';
import { htmlFile } from '../parts/html-file.tsx';

export interface ContentPlanPage {
  style: string;
  banner: string | null;
  heading: string;
  facts: [string, string][];
  refusals: string[];
  warnings: string[];
  sections: { title: string; totals: string; lines: [sign: string, word: string, text: string][] }[];
}

/** The plan of a bundle as one HTML file. */
export function contentPlanPage({ style, banner, ...page }: ContentPlanPage): string {
  const body = (
    <>
      <h1>Plan of a bundle</h1>
      <Body {...page} />
    </>
  );
  return htmlFile({ title: 'Plan of a bundle · Gapstone', style, banner, body });
}

function Body(page: Omit<ContentPlanPage, 'style' | 'banner'>): Child {
  const { heading, facts, refusals, warnings, sections } = page;
  return (
    <>
      <p>{heading}</p>
      <Facts of={facts} />
      {refusals.length === 0 ? (
        <p class="notice">This bundle can be applied.</p>
      ) : (
        <>
          <h2>This bundle would be refused</h2>
          <Lines of={refusals} />
        </>
      )}
      {warnings.length === 0 ? null : (
        <>
          <h2>Warnings</h2>
          <Lines of={warnings} />
        </>
      )}
      {sections.length === 0 ? <p class="empty">Nothing would change.</p> : null}
      {sections.map(({ title, totals, lines }) => (
        <>
          <h2>{title}</h2>
          <details open={lines.length <= 20}>
            <summary>{totals}</summary>
            <ul>
              {lines.map(([sign, word, text]) => (
                <li>
                  <span aria-hidden="true">{sign}</span> {word}: {text}
                </li>
              ))}
            </ul>
          </details>
        </>
      ))}
    </>
  );
}
