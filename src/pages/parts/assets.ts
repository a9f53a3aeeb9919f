import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { noSuchPath } from '../../base/errors.ts';
import { sha256 } from '../../base/ids.ts';
import { programFolder } from '../../base/root.ts';
import type { Env } from '../../http/env.ts';

/** The addresses of assets. Each contains a hash of the content, so that a browser may cache it forever. */
export interface Assets {
  style: string;
  script: string;
  mark: string;
  find(path: string): Asset | undefined;
}

export interface Asset {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
}

const folder = join(programFolder, 'pages', 'assets');

/** The banner above and below each printed page, in browsers that print such boxes. */
function markingOf(banner: string | null): string {
  if (banner === null) return '';
  // Each character is escaped: the style also stands inside HTML files.
  const text = [...banner].map((each) => `\\${each.codePointAt(0)!.toString(16)} `).join('');
  const box = (place: string) => `@${place}-center { content: "${text}"; font: 700 9pt sans-serif; }`;
  return `@page { ${box('top')} ${box('bottom')} }\n`;
}

/** Reads the assets into memory. */
export function createAssets(banner: string | null): Assets {
  const files = new Map<string, Asset>();
  const read = (name: string) => readFileSync(join(folder, name));
  const add = (name: string, type: string, content: Buffer = read(name)) => {
    const bytes = new Uint8Array(content);
    const path = `/assets/${name.replace('.', `.${sha256(bytes).slice(0, 16)}.`)}`;
    files.set(path, { bytes, type });
    return path;
  };
  const style = Buffer.concat([read('style.css'), Buffer.from(markingOf(banner))]);
  return {
    style: add('style.css', 'text/css; charset=utf-8', style),
    script: add('page.js', 'text/javascript; charset=utf-8'),
    mark: add('mark.svg', 'image/svg+xml'),
    find: (path) => files.get(path),
  };
}

/** Serves the assets. */
export function assetRoutes(app: Hono<Env>, { assets }: { assets: Assets }): void {
  app.get('/assets/:name', (c) => {
    const asset = assets.find(c.req.path);
    if (asset === undefined) throw noSuchPath();
    return c.body(asset.bytes, 200, {
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
  });
}
