import { type ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';

/** Seconds that an idle connection is kept for its next request. */
export const keepAliveSeconds = 5;

/**
 * The head of an answer as HTTP/1.1 writes it, as far as it is the same each time: status line and headers, a name and
 * its value in turn. Throws for a name or value that is none.
 */
export function headText(status: number, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!];
    validateHeaderName(name);
    validateHeaderValue(name, value);
    text += `${name}: ${value}\r\n`;
  }
  // One flat text instead of its pieces: it is written many times.
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** An answer that nothing was written of: Node keeps the text of its head in `_header`, and sends that with the body. */
type Unsent = ServerResponse & { _header?: string | null };

/** Whether `sendWhole` can send an answer: `_header` is no documented part of Node, only a very old one. */
export function canSendWhole(response: ServerResponse): boolean {
  return (response as Unsent)._header === null;
}

/**
 * Sends an answer whose head is made already, on an HTTP/1.1 connection that stays open. `writeHead` would take the
 * headers apart, check and join them again each time. `more` are further lines of the head, each ended. A `text` has a
 * character for each byte, and goes out in one piece with the head.
 */
export function sendWhole(
  response: ServerResponse,
  status: number,
  head: string,
  more: string,
  body: Buffer | string,
): void {
  const lines = `${head}${more}Date: ${dateText()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n`;
  response.statusCode = status;
  if (typeof body === 'string') {
    (response as Unsent)._header = lines + body;
    response.end();
  } else {
    (response as Unsent)._header = lines;
    response.end(body);
  }
}

let date = '';
let dateUntil = 0;

/** The time as the header `Date` has it; made once for each second. */
function dateText(): string {
  const now = Date.now();
  if (now >= dateUntil || now < dateUntil - 1000) {
    date = new Date(now).toUTCString();
    dateUntil = now - (now % 1000) + 1000;
  }
  return date;
}
