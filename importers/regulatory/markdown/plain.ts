import { collapseLine } from '../../controls/text.ts';

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

/** The words of a piece of Markdown on one line: links by their text, no images, emphasis, HTML or template code. */
export function plainText(markdown: string): string {
  const text = markdown
    .replace(/\{\{[^}]{0,200}\}\}|\{:[^}]{0,200}\}|\{%[^%]{0,200}%\}/g, '')
    .replace(/!\[[^\]]{0,500}\]\([^)]{0,1000}\)/g, '')
    .replace(/\[\^[^\]]{1,50}\]:?/g, '')
    .replace(/\[((?:[^[\]]|\[[^\]]{0,300}\]){0,1000})\]\((?:[^()]|\([^()]{0,500}\)){0,2000}\)/g, '$1')
    .replace(/<(https?:\/\/[^\s>]{1,1000}|[\w.+-]{1,100}@[\w.-]{1,100})>/g, '$1')
    .replace(/<\/?[a-z][^<>]{0,2000}>/gi, '')
    .replace(/`+/g, '')
    .replace(/(?<!\\)(?:\*{1,3}|(?<![\p{L}\p{N}])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}]))/gu, '')
    .replace(/\\([\\`*_{}[\]()#+.!|<>-])/g, '$1')
    .replace(/&([a-z]{2,6}|#\d{1,6});/gi, (whole, name: string) => {
      if (name.startsWith('#')) {
        const code = Number(name.slice(1));
        return code >= 32 && code < 0xd800 ? String.fromCharCode(code) : '';
      }
      return entities[name.toLowerCase()] ?? whole;
    });
  return collapseLine(text);
}
