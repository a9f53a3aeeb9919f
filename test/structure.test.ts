import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { arrows, picture, roomOf } from './support/arrows.ts';
import { assertPicture } from './support/golden.ts';
import { suite } from './support/harness.ts';
import { importsOf } from './support/imports.ts';

// The directions of ARCHITECTURE.md ("Rooms and directions"), read from the imports of the source.
const structure = suite('Structure');

interface SourceFile {
  path: string;
  /** The project's files that it imports, types included. */
  files: string[];
  /** The packages that it imports. */
  packages: string[];
}

const sources: SourceFile[] = ['src', 'importers'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => readSource(relative(packageRoot, join(entry.parentPath, entry.name)))),
);

function readSource(path: string): SourceFile {
  const names = importsOf(readFileSync(join(packageRoot, path), 'utf8'));
  return {
    path,
    files: names.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(path), name))),
    packages: names.filter((name) => !name.startsWith('.')),
  };
}

structure('every form of an import is read', () => {
  const text = `
import { a } from 'single';
import b, { type c } from "double";
import 'bare';
import "bare-double"
export { d } from "handed";
export * from 'all';
import {
  e,
  type f,
} from "lines";
import type { g } from "types";
const h = await import("dynamic");
  const i = import( './file.ts' );
const text = "import { j } from 'no import'";
`;
  const names = [
    'single',
    'double',
    'bare',
    'bare-double',
    'handed',
    'all',
    'lines',
    'types',
    'dynamic',
    './file.ts',
  ];
  assert.equal(importsOf(text), names);
  assert.equal(
    importsOf(text, { values: true }),
    names.filter((name) => name !== 'types'),
  );
});

structure('every import goes in a direction that ARCHITECTURE.md draws', () => {
  assert.ok(sources.length > 40);
  const wrong: string[] = [];
  for (const { path, files } of sources) {
    const room = roomOf(path);
    assert.ok(arrows[room], `${path} is in no room of ARCHITECTURE.md`);
    for (const file of files) {
      const target = roomOf(file);
      assert.ok(
        sources.some((source) => source.path === file),
        `${path} imports ${file}, which is not there`,
      );
      if (target === room || arrows[room]!.includes(target)) continue;
      wrong.push(`${path} imports ${file}`);
    }
  }
  assert.equal(wrong, []);
});

structure('no arrow is drawn that no import takes', () => {
  for (const room of Object.keys(arrows)) {
    const taken = new Set(
      sources.filter(({ path }) => roomOf(path) === room).flatMap(({ files }) => files.map(roomOf)),
    );
    assert.equal(
      arrows[room]!.filter((other) => !taken.has(other)),
      [],
      room,
    );
  }
});

structure('ARCHITECTURE.md draws the arrows as they are', () => assertPicture(picture()));

structure('a page enters the folder of its subject, what pages share, and services', () => {
  const pages = sources.filter(({ path }) => dirname(dirname(path)) === 'src/site');
  const subjects = pages.filter(({ path }) => dirname(path) !== 'src/site/parts');
  const shared = pages.filter(({ path }) => dirname(path) === 'src/site/parts');
  const entered = (from: SourceFile[], isWrong: (file: string, path: string) => boolean) =>
    from.flatMap(({ path, files }) =>
      files.filter((file) => isWrong(file, path)).map((to) => `${path} > ${to}`),
    );
  const isOther = (file: string, path: string) => ![dirname(path), 'src/site/parts'].includes(dirname(file));
  assert.equal(
    entered(subjects, (file, path) => file.startsWith('src/site/') && isOther(file, path)),
    [],
  );
  // What pages share knows no subject, and no page reads a database.
  const subject = /^src\/(catalog|collections|checklists|content|services|site\/(?!parts\/))/;
  assert.equal(
    entered(shared, (file) => subject.test(file)),
    [],
  );
  assert.equal(
    entered(pages, (file) => /^(src\/(db|audit|commands|server)|importers)\b/.test(file)),
    [],
  );
});

structure('no cycles between files', () => {
  assert.equal(findCycle(new Map(sources.map(({ path, files }) => [path, files]))), []);
});

function findCycle(graph: Map<string, string[]>): string[] {
  const done = new Set<string>();
  const walk = (node: string, path: string[]): string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return [];
    for (const next of graph.get(node) ?? []) {
      const cycle = walk(next, [...path, node]);
      if (cycle.length > 0) return cycle;
    }
    done.add(node);
    return [];
  };
  for (const node of graph.keys()) {
    const cycle = walk(node, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

structure('hono stays in the rooms that speak HTTP, XML and zips where files are read', () => {
  const rules: [RegExp, RegExp][] = [
    [/^(hono|@hono\/node-server)(\/|$)/, /^src\/(http|site|app|server)\b/],
    [/^@hono\/zod-openapi$/, /^src\/(app|http|site)\/|^src\/(openapi|.*(api|schema))\.ts$/],
    [/^better-sqlite3$/, /^(src\/db|importers)\//],
    [/^drizzle-orm/, /^(src\/(db|catalog|collections|content|auth|commands)|importers)\//],
    [/^saxes$/, /^src\/read\//],
    [/^@modelcontextprotocol\/server(\/stdio)?$/, /^src\/mcp\//],
    [/^yauzl$/, /^(importers|src\/(db|read))\//],
    [/^yazl$/, /^src\/(db\/|http\/xlsx\.ts$)/],
    [/^@noble\//, /^src\/content\/signing-keys\.ts$/],
    [/^jose$/, /^src\/auth\//],
    [/^(node:)?(http|https|http2|dgram|dns|tls)$/, /^src\/(server|http\/.*)\.ts$/],
    [/^(node:)?net$/, /^src\/(server|base\/addresses)\.ts$/],
    // No other program is ever started, but the Node of the package in place of one that is too old, and our own import.
    [/^(node:)?child_process$/, /^src\/(runtime|commands\/inbox)\.ts$/],
    [/^(node:)?cluster$/, /^$/],
    // A new context is where V8 shows its collector of garbage; nothing else is ever run in one.
    [/^(node:)?vm$/, /^src\/base\/idle-memory\.ts$/],
    [/^(uvu|fast-check|@nuwcdivnpt|typescript)(\/|$)/, /^$/],
  ];
  for (const { path, packages } of sources) {
    for (const name of packages)
      for (const [packageName, place] of rules)
        if (packageName.test(name)) assert.match(path, place, `${path} imports ${name}`);
  }
});

structure('every package that is imported is a dependency', () => {
  const { dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  for (const { path, packages } of sources) {
    for (const name of packages.filter((each) => !each.startsWith('node:'))) {
      const owner = name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/');
      assert.ok(Object.hasOwn(dependencies, owner), `${path} imports ${name}, which is no dependency`);
    }
  }
});

structure.run();
