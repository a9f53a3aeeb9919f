import type { Child } from 'hono/jsx';
import { blocksOf, type ProseBlock } from './prose-blocks.ts';

/**
 * A published text with its line breaks. With `copied`, the label of a copy button, commands and file contents stand
 * out; the text content of the element stays the published one, character by character.
 */
export function Prose({ text, copied }: { text: string; copied?: string }) {
  if (text.trim() === '') return <p class="empty">The catalog has no text here.</p>;
  return (
    <div class="prose" data-copy={copied}>
      {copied === undefined ? text : blocksOf(text).map((block) => <Block {...block} />)}
    </div>
  );
}

function Block({ kind, prompt, text }: ProseBlock): Child {
  if (kind === 'words') return <span>{text}</span>;
  if (kind === 'literal') return <code class="literal">{text}</code>;
  // A line break at the end belongs to the text, but not to the command.
  const end = text.endsWith('\n') ? '\n' : '';
  return (
    <code class={`typed ${kind}`}>
      {prompt === '' ? null : <span class="prompt">{prompt}</span>}
      <kbd>{end === '' ? text : text.slice(0, -1)}</kbd>
      {end}
    </code>
  );
}
