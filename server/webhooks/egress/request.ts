import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { finalStatus, longestHeaders } from './answer-head.ts';
import type { Dial } from './connector.ts';
import { bareHost } from './destination.ts';

/** A response: status, some headers, and the start of the body as it was received. */
export interface Answer {
  status: number;
  encoding?: string | undefined;
  location?: string | undefined;
  retryAfter?: string | undefined;
  body: Buffer;
}

interface Outgoing {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The time limit passed before a status arrived. */
export const timedOut = new Error('no answer within the time allowed');

const longestBody = 16 * 1024;

/** Whether an error is of the parser, because the response is not HTTP or not HTTP as it should be. */
export const isParserError = (error: unknown): boolean =>
  String((error as NodeJS.ErrnoException).code).startsWith('HPE_');

/** The status and headers of a response. A header that must not be repeated is undefined if it is. */
function headOf({ statusCode = 0, headersDistinct }: IncomingMessage): Omit<Answer, 'body'> {
  const single = (name: string): string | undefined => {
    const [value, ...others] = headersDistinct[name] ?? [];
    return others.length === 0 ? value : undefined;
  };
  return {
    status: statusCode,
    encoding: single('content-encoding'),
    location: single('location'),
    retryAfter: single('retry-after'),
  };
}

/** Keeps the beginning of what arrives on a connection, besides the parser. */
function keepHead(socket: Socket): () => Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  socket.on('data', (piece: Buffer) => {
    if (length < longestHeaders) pieces.push(piece);
    length += piece.length;
  });
  return () => Buffer.concat(pieces);
}

/**
 * Sends one request over a new connection. Reads until the body ends, 16 KiB have arrived, or the time is over. Faults of
 * the body are ignored, because only the status counts. The parser is lenient, and a head that it refuses still counts if its
 * status line is complete: the receiver has answered, and would get the event again.
 * @param budget time limit for everything, from name resolution to the body, in milliseconds
 * @throws timedOut, or the error of the connection
 */
export async function sendRequest(
  { url, headers, body }: Outgoing,
  dial: Dial,
  budget: number,
): Promise<Answer> {
  const { port, protocol } = url;
  const chunks: Buffer[] = [];
  let length = 0;
  let head: Omit<Answer, 'body'> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let received = (): Buffer => Buffer.alloc(0);
  try {
    await new Promise<void>((done, fail) => {
      /** Ends the request. Once the status is known, it succeeds whatever happens to the body. */
      const end = (error?: Error): void => {
        if (error && !head) fail(error);
        else done();
      };
      timer = setTimeout(end, budget, timedOut);
      const outgoing = httpRequest({
        method: 'POST',
        path: url.pathname + url.search,
        headers: { host: url.host, ...headers },
        // Without an agent, the connection serves one request, and `Connection: close` is sent.
        createConnection: (_options, give) => {
          dial.connect({ hostname: bareHost(url), port, protocol }, (error, socket) => {
            if (socket) received = keepHead(socket);
            // The types of Node.js ask for a connection also after an error.
            give(error, socket as Socket);
          });
          return undefined;
        },
        maxHeaderSize: longestHeaders + 1,
        insecureHTTPParser: true,
      });
      outgoing.on('response', (response) => {
        head = headOf(response);
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          length += chunk.length;
          if (length >= longestBody) end();
        });
        response.on('end', () => end());
        response.on('error', end);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        const isRefusedHead = isParserError(error) && error.code !== 'HPE_HEADER_OVERFLOW';
        const status = isRefusedHead && !head ? finalStatus(received()) : undefined;
        if (status !== undefined) head = { status };
        end(error);
      });
      // The status 101: the receiver speaks another protocol from now on.
      outgoing.on('upgrade', () => end(new Error('status 101')));
      outgoing.end(body);
    });
  } finally {
    clearTimeout(timer);
    dial.close();
  }
  if (!head) throw new Error('the answer ended before its status');
  return { ...head, body: Buffer.concat(chunks).subarray(0, longestBody) };
}

const decoders = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * The first bytes of a response's body, decompressed. Empty if the encoding is unknown.
 * @param count the most bytes to return. At most one chunk of 16 KiB more is decompressed
 */
export async function firstBytes({ encoding, body }: Answer, count: number): Promise<Buffer> {
  if (encoding === undefined || encoding === 'identity') return body.subarray(0, count);
  const decoder = decoders.get(encoding.trim().toLowerCase())?.();
  if (!decoder) return Buffer.alloc(0);
  const pieces: Buffer[] = [];
  let length = 0;
  decoder.end(body);
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      if (length >= count) break;
    }
  } catch {
    // The body was cut off, or has another encoding. Keep what was decompressed before.
  }
  return Buffer.concat(pieces).subarray(0, count);
}
