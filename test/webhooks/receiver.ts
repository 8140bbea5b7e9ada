import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  headers: IncomingMessage['headers'];
  body: string;
  /** Milliseconds since the epoch at which the request was complete. */
  at: number;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** How many connections were made, whether or not a request came over them. */
  connections: () => number;
}

/** Listens on a free port of 127.0.0.1 until the test ends. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A partner's receiver that counts every POST; `answer` gets the count of the request, from 1. */
export async function createReceiver(
  answer: (count: number, ...exchange: Parameters<RequestListener>) => void = (_count, _request, response) =>
    response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString(), at: Date.now() });
      answer(received.length, request, response);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  const port = await listen(server);
  return { url: `http://localhost:${port}/hooks`, port, received, connections: () => connections };
}
