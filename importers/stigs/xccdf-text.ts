/** Elements of XHTML that stand on lines of their own. */
const blocks = new Set(
  (
    'address article blockquote body caption center dd details div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul'
  ).split(' '),
);

/** Joins the texts of several elements by empty lines. */
export function joinTexts(texts: string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Collects the text of an element: blocks and `br` of XHTML become line breaks, cells of a row ` | ` (rule F1.4). */
export class MarkupText {
  private readonly parts: string[] = [];
  private readonly opened: string[] = [];
  private depth = 0;
  private preformatted = 0;
  private hasCell = false;
  /** The next text begins a line. */
  private isBroken = false;
  /** The next text follows a break or a cell: its blanks are layout. */
  private isFresh = false;

  open(local: string): void {
    const name = local.toLowerCase();
    this.opened.push(name);
    if (name === 'br') {
      this.endLine();
      this.parts.push('\n');
      this.isFresh = true;
      this.isBroken = false;
    } else if (name === 'td' || name === 'th') {
      this.endLine();
      if (this.hasCell) this.parts.push(' | ');
      // An empty cell begins its row, too.
      else if (this.isBroken) this.beginLine();
      this.isBroken = false;
      this.isFresh = true;
      this.hasCell = true;
    } else if (blocks.has(name)) {
      this.depth++;
      // A paragraph that begins a cell stays in its row.
      if (!this.isFresh) this.isBroken = true;
      if (name === 'tr') this.hasCell = false;
      if (name === 'pre') this.preformatted++;
    }
  }

  close(): void {
    const name = this.opened.pop()!;
    if (!blocks.has(name)) return;
    this.depth--;
    this.isBroken = true;
    if (name === 'tr') this.hasCell = false;
    if (name === 'pre') this.preformatted--;
  }

  add(text: string): void {
    let own = text;
    if (this.preformatted === 0) {
      if (this.depth > 0) own = own.replace(/\s+/g, ' ');
      if (this.isBroken || this.isFresh) own = own.trimStart();
    }
    if (own === '') return;
    if (this.isBroken) {
      this.endLine();
      this.beginLine();
    }
    this.isBroken = false;
    this.isFresh = false;
    this.parts.push(own);
  }

  toString(): string {
    return this.parts.join('');
  }

  private beginLine(): void {
    if (this.parts.length > 0 && !this.parts.at(-1)!.endsWith('\n')) this.parts.push('\n');
  }

  /** Removes the blanks at the end of the text so far. */
  private endLine(): void {
    for (let last = this.parts.pop(); last !== undefined; last = this.parts.pop()) {
      let end = last.length;
      while (end > 0 && ' \t'.includes(last[end - 1]!)) end--;
      if (end === 0) continue;
      this.parts.push(last.slice(0, end));
      return;
    }
  }
}
