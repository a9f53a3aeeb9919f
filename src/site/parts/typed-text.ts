/** The texts between separators, trimmed, without empty ones. */
export function items(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** A text of several lines with LF: browsers send CR LF. */
export function lines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
