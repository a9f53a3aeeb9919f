/** The rows of a table that stands as text: a line for each row, its cells between bars; a cell may be empty. */
export function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.split(/ \|(?= |$)/).map((cell) => cell.trim()));
}

/** The lines of a text, without the blanks around them and without empty ones. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '');
}
