import type { Child } from 'hono/jsx';
import { blocksOf, type ProseBlock } from '../../base/prose-blocks.ts';

/**
 * A text as published: its line breaks kept, long lines wrapped. With `copied`, what a button calls it, commands and
 * contents of files are set apart; the text of the element is the published one, character by character.
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
  // What ends the last line belongs to the text, and is not typed.
  const end = text.endsWith('\n') ? '\n' : '';
  return (
    <code class={`typed ${kind}`}>
      {prompt === '' ? null : <span class="prompt">{prompt}</span>}
      <kbd>{end === '' ? text : text.slice(0, -1)}</kbd>
      {end}
    </code>
  );
}
