import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Client, type Dispatcher } from 'undici';
import type { Dial } from './connector.ts';

/** A response: status, some headers, and the start of the body as it was received. */
export interface Answer {
  status: number;
  encoding: string | undefined;
  location: string | undefined;
  retryAfter: string | undefined;
  body: Buffer;
}

interface Outgoing {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** The value of a header that was sent once; undefined for a repeated one. */
const single = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The time limit passed before a status arrived. */
export const timedOut = new Error('no answer within the time allowed');

const longestBody = 16 * 1024;
const finished = new Error('enough was read');

/**
 * Sends one request over a new connection. Reads until the body ends, 16 KiB have arrived, or the time is over. Faults of
 * the body are ignored, because only the status counts.
 *
 * The response is never paused, because undici 7 throws in an event handler when a paused connection ends. A long body is
 * cut off.
 * @param budget time limit for everything, from name resolution to the body, in milliseconds
 * @throws timedOut, or the error of the connection
 */
export async function sendRequest(
  { url, headers, body }: Outgoing,
  dial: Dial,
  budget: number,
): Promise<Answer> {
  // The client's own time limits are off, because `budget` is the limit for everything.
  const client = new Client(url.origin, { connect: dial.connect, headersTimeout: 0, bodyTimeout: 0 });
  const chunks: Buffer[] = [];
  let length = 0;
  let answer: Omit<Answer, 'body'> | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((done, fail) => {
      /** Ends the request. Once the status is known, it succeeds whatever happens to the body. */
      const end = (error?: Error): void => {
        if (error && !answer) fail(error);
        else done();
      };
      timer = setTimeout(end, budget, timedOut);
      const handler: Dispatcher.DispatchHandler = {
        // undici recognises its newer handler interface by this method.
        onRequestStart: () => undefined,
        onResponseStart(_controller, status, received) {
          // An informational response precedes the real one.
          if (status < 200) return;
          answer = {
            status,
            encoding: single(received['content-encoding']),
            location: single(received['location']),
            retryAfter: single(received['retry-after']),
          };
        },
        onResponseData(controller, chunk) {
          chunks.push(chunk);
          length += chunk.length;
          if (length < longestBody) return;
          end();
          // Ends the connection. Its error has no effect, because the request has ended.
          controller.abort(finished);
        },
        onResponseEnd: () => end(),
        onResponseError: (_controller, error) => end(error),
      };
      const request = {
        method: 'POST',
        path: url.pathname + url.search,
        headers: { ...headers },
        // Sends `Connection: close`, because the connection serves one request only.
        reset: true,
      } as const;
      client.dispatch({ ...request, body: Buffer.from(body) }, handler);
    });
  } finally {
    clearTimeout(timer);
    dial.close();
    client.destroy(finished).catch(() => undefined);
  }
  if (!answer) throw new Error('the answer ended before its status');
  return { ...answer, body: Buffer.concat(chunks).subarray(0, longestBody) };
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
