import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Server as TcpServer } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  raw: Buffer;
  body: string;
  /** The time at which the request was complete, in milliseconds since the epoch. */
  at: number;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** The number of connections, including those without a request. */
  connections: () => number;
}

type Exchange = Parameters<RequestListener>;
/** Answers a request, which is the last one of `received`. `count` is the number of requests so far, from 1. */
type Answer = (count: number, ...exchange: Exchange) => void;
const accept: Answer = (_count, _request, response) => response.writeHead(204).end();

async function listenOnFreePort(server: TcpServer): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

function close(server: TcpServer | Server): void {
  if ('closeAllConnections' in server) server.closeAllConnections();
  server.close();
}

/** Listens on a free port of 127.0.0.1 until the test ends. @returns the port */
export async function listen(server: TcpServer): Promise<number> {
  const port = await listenOnFreePort(server);
  onTestFinished(() => close(server));
  return port;
}

/** Starts a receiver that keeps every request, over https with `tls`. The caller closes it. */
export async function startReceiver(
  answer: Answer = accept,
  tls?: ServerOptions,
): Promise<Receiver & { close: () => void }> {
  const received: Received[] = [];
  let connections = 0;
  const keepAndAnswer: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const { url: path = '', headers } = request;
      received.push({ path, headers, raw, body: raw.toString(), at: Date.now() });
      answer(received.length, request, response);
    });
  };
  const server = tls ? createTlsServer(tls, keepAndAnswer) : createServer(keepAndAnswer);
  server.on('connection', () => {
    connections += 1;
  });
  const port = await listenOnFreePort(server);
  return {
    url: `${tls ? 'https' : 'http'}://localhost:${port}/hooks`,
    port,
    received,
    connections: () => connections,
    close: () => close(server),
  };
}

/** Starts a receiver that keeps every request. It is closed when the test ends. */
export async function createReceiver(answer?: Answer): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  onTestFinished(receiver.close);
  return receiver;
}
