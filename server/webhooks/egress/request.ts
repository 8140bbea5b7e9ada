import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Answer, AnswerReader } from './answer-reader.ts';
import { type Connection, type Connections, createConnection } from './connections.ts';
import type { Dial } from './connector.ts';
import { bareHost } from './destination.ts';

interface Outgoing {
  url: URL;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Only requests with the same owner share connections. */
  owner: string;
}

/** How a request reaches its receiver. */
interface Way {
  dial: Dial;
  /** The checked addresses of the host. */
  addresses: readonly string[];
  /** Rejects with `timedOut` if the time limit is over before this work is. */
  inTime: <T>(work: Promise<T>) => Promise<T>;
  /**
   * A tenth of the time limit, in milliseconds. The body, which does not count, is read for so long after the status. A receiver
   * that closes a kept connection later than that after a request has read it, so it is not sent once more.
   */
  tenth: number;
  /** Undefined for a new connection that serves no other request. */
  connections?: Connections;
}

/** The time limit passed before a status arrived. */
export const timedOut = new Error('no answer within the time allowed');

/** A kept connection was closed by the receiver before it answered anything. */
class ClosedWhileKept extends Error {}

const notInHeader = /[^\t\x20-\x7e]/;

/** The bytes of a request (RFC 9112). */
function requestText({ url, headers, body }: Outgoing, connection: 'keep-alive' | 'close'): string {
  const fields = { Host: url.host, ...headers, Connection: connection };
  let text = `POST ${url.pathname}${url.search} HTTP/1.1\r\n`;
  for (const [name, value] of Object.entries(fields)) {
    if (notInHeader.test(value))
      throw new TypeError(`the header ${name} has a character that it may not have`);
    text += `${name}: ${value}\r\n`;
  }
  return `${text}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const connectionEnded = () => Object.assign(new Error('the connection ended'), { code: 'ECONNRESET' });

/** Sends a request, and passes what arrives to the reader, until the response is read or `tenth` is over after its head. */
async function exchange(connection: Connection, text: string, reader: AnswerReader, tenth: number) {
  let bodyTimer: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((done, fail) => {
      connection.user = {
        data(piece) {
          try {
            reader.take(piece);
          } catch (error) {
            fail(error);
          }
          if (reader.isDone) done();
          else if (reader.hasHead) bodyTimer ??= setTimeout(done, tenth);
        },
        ended: (error = connectionEnded()) => fail(error),
      };
      connection.socket.write(text);
    });
  } finally {
    clearTimeout(bodyTimer);
  }
}

/**
 * Sends one request. Once the status is known, it succeeds whatever happens to the body, because only the status counts.
 * @throws timedOut, ClosedWhileKept, MalformedAnswer, or the error of the connection
 */
async function sendOnce(
  outgoing: Outgoing,
  { dial, addresses, inTime, tenth, connections }: Way,
): Promise<Answer> {
  const { url, owner } = outgoing;
  const { port, protocol } = url;
  const text = requestText(outgoing, connections ? 'keep-alive' : 'close');
  const name = [owner, url.origin, ...addresses.toSorted()].join(' ');
  const kept = connections?.take(name);
  if (kept) dial.reuse(kept.socket);
  const connection =
    kept ?? createConnection(await inTime(dial.open(addresses, { hostname: bareHost(url), port, protocol })));
  const reader = new AnswerReader();
  const sentAt = performance.now();
  try {
    await inTime(exchange(connection, text, reader, tenth));
  } catch (error) {
    const wasClosed = kept && error !== timedOut && !reader.hasBegun && performance.now() - sentAt < tenth;
    if (wasClosed) throw new ClosedWhileKept('the receiver has closed a kept connection');
    if (!reader.hasHead) throw error;
  } finally {
    // A receiver that answers before it has read the request may take the rest of it for another one.
    const wasRead = connection.socket.writableLength === 0;
    const keepFor = connections && wasRead ? reader.reusableFor(connections.kept) : 0;
    if (connections && keepFor > 0) connections.keep(name, connection, keepFor);
    else connection.socket.destroy();
  }
  return reader.answer();
}

/**
 * Sends one request, over a kept connection if there is one. If the receiver had closed that connection, the request is sent
 * once more over a new one: nobody has read it, or the receiver gets the same event a second time, as the contract allows.
 * @param budget time limit for everything, from name resolution to the body, in milliseconds
 * @throws timedOut, MalformedAnswer, or the error of the connection
 */
export async function sendRequest(
  outgoing: Outgoing,
  { dial, budget, connections }: { dial: Dial; budget: number; connections: Connections },
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const timeOver = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, budget, timedOut);
  });
  const inTime: Way['inTime'] = (work) => Promise.race([work, timeOver]);
  try {
    const addresses = await inTime(dial.resolve(bareHost(outgoing.url)));
    const way = { dial, addresses, inTime, tenth: budget / 10 };
    return await sendOnce(outgoing, { ...way, connections }).catch((error: unknown) => {
      if (error instanceof ClosedWhileKept) return sendOnce(outgoing, way);
      throw error;
    });
  } catch (error) {
    dial.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
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
