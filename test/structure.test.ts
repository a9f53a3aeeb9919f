import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';
import { importsOf } from './support/imports.ts';

// The directions of ARCHITECTURE.md ("Rooms and directions"), held against the imports of the source.
const structure = suite('Structure');

/** What each file imports, types included. */
const imports = new Map(
  ['src', 'importers'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => relative(packageRoot, join(entry.parentPath, entry.name)))
      .map((path) => [path, importsOf(readFileSync(join(packageRoot, path), 'utf8'))] as const),
  ),
);

const isFile = (name: string) => name.startsWith('.');

/** The project's files that each file imports. */
const sources = new Map(
  [...imports].map(([path, names]) => [path, names.filter(isFile).map((name) => join(dirname(path), name))]),
);

/** The packages that are imported, each with a file that does. */
const packages = [...imports].flatMap(([path, names]) =>
  names.filter((name) => !isFile(name)).map((name) => [name, path] as const),
);

/** The room of a file, by the name that the picture has for it: its folder, or the file itself at the top of src. */
const roomOf = (path: string) =>
  (dirname(path) === 'src' ? path.replace(/\.tsx?$/, '') : dirname(path)).replace(/^src\//, '');

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
const text = "import { j } from 'no import'"
`;
  const names = 'single double bare bare-double handed all lines types dynamic ./file.ts'.split(' ');
  assert.equal(importsOf(text), names);
  const values = names.filter((name) => name !== 'types');
  assert.equal(importsOf(text, { values: true }), values);
});

structure('every import goes in a direction that ARCHITECTURE.md draws, and none in a circle', () => {
  const arrows = new Map<string, string[]>();
  for (const [, from, to] of readFileSync(join(packageRoot, 'ARCHITECTURE.md'), 'utf8').matchAll(
    /^ {2}(\S+) --> (\S+)$/gm,
  ))
    for (const [room, more] of [[from!, [to!]] as const, [to!, []] as const])
      arrows.set(room, [...(arrows.get(room) ?? []), ...more]);
  const reaches = (from: string, to: string): boolean =>
    arrows.get(from)!.some((next) => next === to || reaches(next, to));
  for (const room of arrows.keys()) assert.not(reaches(room, room), room);
  assert.ok(sources.size > 40);
  const wrong: string[] = [];
  for (const [path, files] of sources) {
    const room = roomOf(path);
    assert.ok(arrows.has(room), `${path} is in no room of ARCHITECTURE.md`);
    for (const file of files) {
      assert.ok(sources.has(file), `${path} imports ${file}, which is not there`);
      if (roomOf(file) !== room && !reaches(room, roomOf(file))) wrong.push(`${path} imports ${file}`);
    }
  }
  assert.equal(wrong, []);
});

structure('no cycles between files', () => {
  const done = new Set<string>();
  const walk = (node: string, path: string[]): void => {
    assert.not.ok(path.includes(node), [...path, node].join(' '));
    if (done.has(node)) return;
    for (const next of sources.get(node)!) walk(next, [...path, node]);
    done.add(node);
  };
  for (const path of sources.keys()) walk(path, []);
});

structure('packages stay in their rooms', () => {
  const rules: [RegExp, RegExp][] = [
    [/^(hono|@hono\/node-server)(\/|$)/, /^src\/((http|pages|app|server)\b|checklists\/list-api\.ts$)/],
    [/^better-sqlite3$/, /^(src\/db\/|importers\/|src\/base\/file-lock\.ts$)/],
    [/^jose$/, /^src\/auth\//],
    [/^(node:)?(http|https|http2|dgram|dns|tls)(\/|$)/, /^src\/(server|http\/.*)\.ts$/],
    [/^(node:)?net$/, /^src\/(server|http\/handshakes|base\/addresses)\.ts$/],
    // No other program is ever started, but the Node of the package in place of one that is too old, and our own import.
    [/^(node:)?child_process$/, /^src\/(runtime|commands\/inbox)\.ts$/],
    [/^(node:)?cluster$/, /^$/],
    [/^(node:)?vm$/, /^$/],
  ];
  for (const [name, path] of packages)
    for (const [packageName, place] of rules)
      if (packageName.test(name)) assert.match(path, place, `${path} imports ${name}`);
});

structure('every package that is imported is a dependency', () => {
  const { dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  for (const [name, path] of packages) {
    const owner = /^(@[^/]+\/)?[^/]+/.exec(name)![0];
    assert.ok(name.startsWith('node:') || Object.hasOwn(dependencies, owner), `${path} imports ${name}`);
  }
});

structure.run();
