/** A text of several lines with LF: browsers send CR LF. */
export function lines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
