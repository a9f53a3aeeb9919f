/** A text on one line: one blank for each run of white space, none at the ends. */
export function collapseLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A text with each line collapsed, at most one empty line between two, none at the ends. */
export function collapseLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(collapseLine)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** The prose of a part: paragraphs joined to one line, but rows and list items on lines of their own. */
export function collapseProse(text: string): string {
  const lines = collapseLines(text);
  return /[^\n]\n[^\n]/.test(lines) ? lines.replace(/\n+/g, '\n') : collapseLine(lines);
}

/** Closes gaps of inserted parameters and removed links: no blank before `;,:).` or after `(`, but before `.mil`. */
export function closeUp(text: string): string {
  return text.replace(/ (?=[;,:)]|\.(?![\w.]))/g, '').replace(/\( /g, '(');
}

/** A source's text for messages: one line, no control characters, cut to `length`. */
export function excerpt(text: string, length = 60): string {
  const head = text.slice(0, 4 * length).toWellFormed();
  return [...collapseLine(head.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' '))].slice(0, length).join('');
}

/** The beginnings of the first texts in one line, with dots for the other texts. */
export function firstOf(texts: string[], most = 5): string {
  const first = texts.slice(0, most).map((text) => excerpt(text, 400));
  return [...first, ...(texts.length > most ? ['...'] : [])].join(', ');
}
