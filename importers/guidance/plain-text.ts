import { collapseLine } from '../read/text.ts';

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
  rsquo: '’',
  lsquo: '‘',
  rdquo: '”',
  ldquo: '“',
  sect: '§',
};

// `[label]: address "title"` and nothing else: `[Note]: Boats must float` is a sentence.
const definition =
  /^ {0,3}\[(?!\^)([^[\]]{1,200})\]:[ \t]+(?:<[^<>\s]{1,1000}>|(?:https?:|mailto:|www\.|[/#.]|[\w-]{1,100}\.(?:md|html?|pdf)\b)[^\s]{0,1000})(?:[ \t]+(?:"[^"]{0,500}"|'[^']{0,500}'|\([^()]{0,500}\)))?[ \t]*$/i;

/** The labels that lines such as `[label]: https://...` give to addresses, in lower case. */
export function linkLabels(lines: string[]): Set<string> {
  const labels = lines.map((line) => definition.exec(line)?.[1]);
  return new Set(labels.filter((label) => label !== undefined).map(labelKey));
}

function labelKey(label: string): string {
  return collapseLine(label).toLowerCase();
}

/**
 * The words of a piece of Markdown on one line: links by their text, no images, emphasis, HTML or template code.
 * `labels` are those that links by label may name.
 */
export function plainText(markdown: string, labels: Set<string> = new Set()): string {
  const text = markdown
    .replace(/\{\{[^}]{0,200}\}\}|\{:[^}]{0,200}\}|\{%[^%]{0,200}%\}/g, '')
    .replace(/!\[[^\]]{0,500}\]\([^)]{0,1000}\)/g, '')
    .replace(/\[\^[^\]]{1,50}\]:?/g, '')
    .replace(/\[((?:[^[\]]|\[[^\]]{0,300}\]){0,1000})\]\((?:[^()]|\([^()]{0,500}\)){0,2000}\)/g, '$1')
    .replace(/\[([^[\]]{1,1000})\](?:\[([^[\]]{0,200})\])?/g, (whole, words: string, label?: string) =>
      labels.has(labelKey(label || words)) ? words : whole,
    )
    .replace(/<(https?:\/\/[^\s>]{1,1000}|[\w.+-]{1,100}@[\w.-]{1,100})>/g, '$1')
    .replace(/<\/?[a-z][^<>]{0,2000}>/gi, '')
    .replace(/`+/g, '')
    .replace(/(?<!\\)(?:\*{1,3}|(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}]))/gu, '')
    .replace(/\\([\\`*_{}[\]()#+.!|<>-])/g, '$1')
    .replace(/&([a-z]{2,6}|#\d{1,6}|#x[\da-f]{1,5});/gi, (whole, name: string) => {
      if (name.startsWith('#')) {
        const code = Number(name.slice(1).replace(/^x/i, '0x'));
        return code >= 32 && code < 0xd800 ? String.fromCharCode(code) : '';
      }
      return entities[name.toLowerCase()] ?? whole;
    });
  return collapseLine(text);
}
