import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';

/** One HTML file that works without server, other files and scripts, with the banner above and below its body. */
export function htmlFile(file: { title: string; style: string; banner: string | null; body: Child }): string {
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
