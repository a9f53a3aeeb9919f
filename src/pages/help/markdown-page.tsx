import type { Child } from 'hono/jsx';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { Table } from '../parts/components.tsx';
import type { View } from '../parts/view.ts';

type RootContent = ReturnType<typeof fromMarkdown>['children'][number];
type PhrasingContent = Extract<RootContent, { type: 'paragraph' }>['children'][number];
type TableNode = Extract<RootContent, { type: 'table' }>;

/**
 * A Markdown document of the package as a page. `hrefOf` gives the address for the target of a link, or null for a
 * document that the server does not have: its text appears without a link. Of HTML, only anchors (`<a id="...">`)
 * count.
 */
export function documentPage(title: string, text: string, hrefOf: (target: string) => string | null): View {
  const { children } = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  /** The last heading: the caption of tables below it. */
  let heading = title;
  return { title, section: 'help', heading: null, body: <div class="document">{children.map(block)}</div> };

  function block(node: RootContent): Child {
    switch (node.type) {
      case 'heading': {
        const Level = `h${node.depth}` as 'h1' | 'h2' | 'h3';
        heading = wordsOf(node.children);
        return <Level id={headingId(heading)}>{inline(node.children)}</Level>;
      }
      case 'paragraph':
        return <p>{inline(node.children)}</p>;
      case 'code':
        return (
          <pre tabindex={0}>
            <code>{node.value}</code>
          </pre>
        );
      case 'list': {
        const items = node.children.map((item) => <li>{item.children.map(itemBlock)}</li>);
        return node.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
      }
      case 'table':
        return table(node);
      default:
        return null;
    }
  }

  /** A list item with one paragraph needs no `<p>`. */
  function itemBlock(node: RootContent): Child {
    return node.type === 'paragraph' ? inline(node.children) : block(node);
  }

  function table({ children: [head, ...rows] }: TableNode): Child {
    return (
      <Table
        caption={heading}
        head={head!.children.map((cell) => wordsOf(cell.children))}
        rows={rows.map((row) => row.children.map((cell) => inline(cell.children)))}
      />
    );
  }

  function inline(nodes: PhrasingContent[]): Child {
    return nodes.map((node, index) => {
      switch (node.type) {
        case 'text':
          return node.value;
        case 'inlineCode':
          return <code>{node.value}</code>;
        case 'strong':
          return <strong id={anchorOf(nodes[index - 2])}>{inline(node.children)}</strong>;
        case 'emphasis':
          return <em>{inline(node.children)}</em>;
        case 'link': {
          const href = hrefOf(node.url);
          return href === null ? inline(node.children) : <a href={href}>{inline(node.children)}</a>;
        }
        case 'html': {
          // An anchor before strong words is theirs.
          const id = nodes[index + 2]?.type === 'strong' ? undefined : anchorOf(node);
          return id === undefined ? null : <span id={id} />;
        }
        default:
          return null;
      }
    });
  }
}

const anchorOf = (node: PhrasingContent | undefined) =>
  node?.type === 'html' ? /^<a id="([\w.-]+)">$/.exec(node.value)?.[1] : undefined;

function wordsOf(nodes: PhrasingContent[]): string {
  return nodes
    .map((node) => ('value' in node ? node.value : 'children' in node ? wordsOf(node.children) : ''))
    .join('');
}

/** The anchor of a heading, as other Markdown tools make it. */
function headingId(words: string): string {
  return words
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
