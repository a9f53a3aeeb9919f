import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { Facts, Lines } from '../parts/components.tsx';

interface ContentPlanPage {
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

/** One HTML file that works without server, other files and scripts, with the banner above and below its body. */
function htmlFile(file: { title: string; style: string; banner: string | null; body: Child }): string {
  const { title, style, banner, body } = file;
  const marking = banner === null ? null : <p class="banner">{banner}</p>;
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>{title}</title>
        <style>{raw(style)}</style>
      </head>
      <body>
        {marking}
        <main id="main">{body}</main>
        {marking}
      </body>
    </html>
  );
  return `<!DOCTYPE html>${document.toString()}\n`;
}
