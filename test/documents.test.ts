import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../src/base/root.ts';
import { suite } from './support/harness.ts';

const documents = suite('Links and citations of the documents');

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8');
const pages = ['', 'docs', 'data'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);
/** The code, without this file, whose examples are no citations. */
const sources = ['src', 'importers', 'test'].flatMap((folder) =>
  readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!documents\.test)\.(tsx?|mjs|css)$/.test(entry.name))
    .map((entry) => relative(packageRoot, join(entry.parentPath, entry.name))),
);

/** The lines of a page that are no code, with their numbers. */
function prose(page: string): { line: string; number: number }[] {
  let code = false;
  return read(page)
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => {
      const fence = line.trimStart().startsWith('```');
      if (fence) code = !code;
      return !code && !fence;
    });
}

/** What a link into a page may name: its explicit anchors, and those that a reader makes of headings. */
function anchorsOf(page: string): Set<string> {
  const headings = prose(page).flatMap(({ line }) => /^#+ (.*)/.exec(line)?.slice(1) ?? []);
  return new Set([
    ...[...read(page).matchAll(/<a id="([^"]+)">/g)].map((match) => match[1]!),
    ...headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  ]);
}

documents('every link leads to a file, and to an anchor that is there', () => {
  for (const page of pages) {
    const text = prose(page)
      .map(({ line }) => line)
      .join('\n');
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target!)) continue;
      const [path, anchor] = target!.split('#') as [string, string | undefined];
      const file = path === '' ? page : join(dirname(page), path);
      assert.ok(existsSync(join(packageRoot, file)), `${page}: ${target}`);
      if (anchor !== undefined) assert.ok(anchorsOf(file).has(anchor), `${page}: ${target}`);
    }
  }
});

documents('every source file or folder that a page names is there', () => {
  for (const page of pages.filter((each) => !/^(?:CHANGELOG|docs\/decisions)\.md$/.test(each)))
    for (const [, name] of read(page).matchAll(/`((?:src|importers|packaging|migrations)\/[\w./-]+)`/g))
      assert.ok(existsSync(join(packageRoot, name!)), `${page}: ${name}`);
});

documents('every test file that a page names is there', () => {
  const there = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' });
  let named = 0;
  for (const page of pages.filter((each) => !/^(?:CHANGELOG|docs\/decisions)\.md$/.test(each)))
    for (const [, name] of read(page).matchAll(/`([\w./-]*[\w-]\.test\.ts)`/g)) {
      if (name!.startsWith('NAME.')) continue;
      assert.ok(
        name!.includes('/')
          ? existsSync(join(packageRoot, name!))
          : there.some((each) => each.endsWith(`/${name}`)),
        `${page}: ${name}`,
      );
      named++;
    }
  assert.ok(named > 100, `${named} names`);
});

const rule = String.raw`[DFS]\d+(?:\.\d+)*`;
const list = (item: string) => String.raw`${item}(?:(?:,| and|, and| or| to)\s+${item})*`;

/** The rules and threats that a text names. */
function citations(text: string, comments: string): { rules: string[]; threats: string[] } {
  const flat = (part: string) => part.replace(/\n\s*(?:\*|\/\/)?\s*/g, ' ');
  const named = (part: string, word: string, item: string) =>
    [...flat(part).matchAll(new RegExp(`\\b${word}s?\\s+(${list(item)})`, 'gi'))].flatMap((match) =>
      [...match[1]!.matchAll(new RegExp(item, 'g'))].map((each) => each[0]),
    );
  const threats = named(text, 'threat', String.raw`[A-Z]\d\b`);
  const rest = flat(comments).replace(/\bthreats? [A-Z]\d(?:(?:,| and) [A-Z]\d)*/gi, '');
  const bare = [...rest.matchAll(/(?<![\w./-])D\d+(?:\.\d+)*\b/g)].map((match) => match[0]);
  return { rules: [...named(text, 'rule', rule), ...bare], threats };
}

documents('every rule and threat that code, tests and documents cite is there', () => {
  const rules = new Set(
    ['rules', 'asking', 'running', 'files'].flatMap((name) => [...anchorsOf(`docs/${name}.md`)]),
  );
  const threats = new Set(
    [...read('docs/security.md').matchAll(/^\| ([A-Z]\d) \|/gm)].map((match) => match[1]!),
  );
  let cited = 0;
  for (const path of [...pages, ...sources]) {
    const text = read(path);
    const comments = path.endsWith('.md')
      ? ''
      : (text.match(/^\s*(?:\/\*\*|\*|\/\/).*$|\s\/\/ .*$/gm) ?? []).join('\n');
    const found = citations(text, comments);
    for (const each of found.rules) assert.ok(rules.has(each.toLowerCase()), `${path}: rule ${each}`);
    for (const each of found.threats) assert.ok(threats.has(each), `${path}: threat ${each}`);
    cited += found.rules.length + found.threats.length;
    // Names of papers that are not here; a title may be written in capitals.
    const elsewhere =
      /\b(?:DECISIONS|FORMATS|EXCHANGE|ANCHORS|SECURITY) (?:D?\d|[A-Z]\d|D\b)|\(specification[,;)]/;
    assert.not.match(text, elsewhere, path);
  }
  assert.ok(cited > 200, `${cited} citations`);
});

documents('a citation of a rule that is not there is found, in each form', () => {
  const comment = '/** See D99.1 (rules D7.1, F98\n * and S97), threat Z9. */';
  const found = citations(comment, comment);
  assert.equal([...new Set(found.rules)].sort(), ['D7.1', 'D99.1', 'F98', 'S97']);
  assert.equal(found.threats, ['Z9']);
});

documents.run();
