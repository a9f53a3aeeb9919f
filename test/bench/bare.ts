import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// What is compared with: Node's own server that answers the bytes of the files it is given, `GET /0` the first.
const answers = process.argv.slice(2).map((file) => readFileSync(file));

const server = createServer((request, response) => {
  const body = answers[Number(request.url!.slice(1))]!;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
