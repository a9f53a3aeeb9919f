/** A text on one line: runs of blanks, line breaks and no-break spaces become one blank, none at the ends. */
export function collapseLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** A text on its lines: each collapsed and without its indentation, at most one empty line between two, none at the ends. */
export function collapseLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(collapseLine)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/**
 * Closes the gaps that inserted parameters and removed links leave in a collapsed text: no blank before `;,:).` nor
 * after `(`. A dot that begins a word (`.mil`) keeps its blank.
 */
export function closeUp(text: string): string {
  return text.replace(/ (?=[;,:)]|\.(?![\w.]))/g, '').replace(/\( /g, '(');
}

/** A text from a source as messages show it: on one line, without control characters, cut short. */
export function excerpt(text: string, length = 60): string {
  const head = text.slice(0, 4 * length).toWellFormed();
  return [...collapseLine(head.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' '))].slice(0, length).join('');
}

/** The first of several texts in one line, with dots where there are more. */
export function firstOf(texts: string[], most = 5): string {
  return [...texts.slice(0, most), ...(texts.length > most ? ['...'] : [])].join(', ');
}
