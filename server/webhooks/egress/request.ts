import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
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
  date?: string | undefined;
  body: Buffer;
}

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
  /** Resolves when the time limit is over. */
  timeOver: Promise<void>;
  /**
   * A tenth of the time limit, in milliseconds. The body, which does not count, is read for so long after the status. A receiver
   * that closes a kept connection later than that after a request has read it, so it is not sent once more.
   */
  tenth: number;
  agent?: Connections;
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
    date: single('date'),
  };
}

/** How long a connection waits for the next request: less than the 5 s after which many servers close theirs. */
export const keptMs = 4_000;
/** The most connections to one address that wait. An endpoint has at most 5 attempts in flight. */
const mostKept = 5;

/** What `Agent` needs to know of a request. */
interface Connecting {
  /** Connections with the same name serve each other's requests. */
  connectionName: string;
  open: () => Promise<Socket>;
}

type Give = (error: Error | null, socket: Duplex) => void;

function connect({ open }: Connecting, give: Give | undefined): undefined {
  open().then(
    (socket) => give?.(null, socket),
    // The types of Node.js ask for a connection also after an error.
    (error: Error) => give?.(error, undefined as unknown as Duplex),
  );
}

/**
 * Keeps connections for some seconds, so that a busy endpoint needs few TLS handshakes. A kept connection serves only requests
 * of the same key, to the same origin, whose host name has the same checked addresses as when it was made.
 */
class KeptConnections extends Agent {
  constructor(timeout: number) {
    super({ keepAlive: true, maxFreeSockets: mostKept, timeout });
  }

  // `Agent` passes the options of the request, which `sendOnce` has set.
  override getName(options?: object): string {
    return (options as Connecting).connectionName;
  }

  override createConnection(options: object, give?: Give): undefined {
    connect(options as Connecting, give);
  }

  // What arrives before the next request is no answer to it, so the connection is closed (RFC 9112, section 9.2).
  override keepSocketAlive(socket: Socket): boolean {
    socket.once('data', destroyOnData);
    return super.keepSocketAlive(socket) as unknown as boolean;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    socket.off('data', destroyOnData);
    super.reuseSocket(socket, request);
  }
}

function destroyOnData(this: Socket): void {
  this.destroy();
}
export type Connections = Agent;
/** @param kept milliseconds for which a connection waits for the next request */
export const createConnections = (kept = keptMs): Connections => new KeptConnections(kept);

/** Keeps the beginning of what arrives for a request, besides the parser. */
function keepHead(outgoing: ClientRequest): () => Buffer {
  const pieces: Buffer[] = [];
  let length = 0;
  const keep = (piece: Buffer): void => {
    if (length < longestHeaders) pieces.push(piece);
    length += piece.length;
  };
  outgoing.once('socket', (socket) => {
    // Before the parser, which emits its error as soon as it gets the bytes.
    socket.prependListener('data', keep);
    outgoing.once('close', () => socket.off('data', keep));
  });
  return () => Buffer.concat(pieces);
}

/** A kept connection was closed by the receiver before it answered anything. */
class ClosedWhileKept extends Error {}

/**
 * Sends one request. Reads until the body ends, 16 KiB have arrived, or a time limit is over. Faults of the body are ignored,
 * because only the status counts. The parser is lenient, and a head that it refuses still counts if its status line is complete:
 * the receiver has answered, and would get the event again.
 * @param agent undefined for a new connection that serves no other request
 * @throws timedOut, ClosedWhileKept, or the error of the connection
 */
async function sendOnce(
  { url, headers, body, owner }: Outgoing,
  { dial, addresses, timeOver, tenth, agent }: Way,
): Promise<Answer> {
  const { port, protocol } = url;
  const chunks: Buffer[] = [];
  let length = 0;
  let head: Omit<Answer, 'body'> | undefined;
  let bodyTimer: NodeJS.Timeout | undefined;
  let reusedAt = 0;
  const connecting: Connecting = {
    connectionName: [owner, url.origin, ...addresses.toSorted()].join(' '),
    open: () => dial.open(addresses, { hostname: bareHost(url), port, protocol }),
  };
  const outgoing = httpRequest({
    method: 'POST',
    path: url.pathname + url.search,
    headers: { host: url.host, ...headers },
    // Without an agent, the connection serves one request, and `Connection: close` is sent.
    ...(agent
      ? { agent, ...connecting }
      : { createConnection: (_options: object, give?: Give) => connect(connecting, give) }),
    maxHeaderSize: longestHeaders + 1,
    insecureHTTPParser: true,
  });
  const received = keepHead(outgoing);
  try {
    await new Promise<void>((done, fail) => {
      /** Ends the request. Once the status is known, it succeeds whatever happens to the body. */
      const end = (error?: Error): void => {
        if (error && !head) fail(error);
        else done();
      };
      void timeOver.then(() => end(timedOut));
      outgoing.once('socket', (socket) => {
        if (!outgoing.reusedSocket) return;
        reusedAt = performance.now();
        dial.reuse(socket);
      });
      outgoing.on('response', (response) => {
        head = headOf(response);
        // Without the header `Upgrade`, Node emits no `upgrade`. An answer that is not read closes its connection.
        if (head.status === 101) return end();
        bodyTimer = setTimeout(end, tenth);
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
        const isSoon = performance.now() - reusedAt < tenth;
        const wasClosed = outgoing.reusedSocket && isSoon && received().length === 0;
        end(wasClosed ? new ClosedWhileKept('the receiver has closed a kept connection') : error);
      });
      // The status 101: the receiver speaks another protocol from now on.
      outgoing.on('upgrade', (response, socket) => {
        // The request has given its connection away, so it does not close it.
        socket.destroy();
        head = headOf(response);
        end();
      });
      outgoing.end(body);
    });
  } finally {
    clearTimeout(bodyTimer);
    // Closes the connection, unless the answer was whole: then the agent keeps it already.
    outgoing.destroy();
  }
  if (!head) throw new Error('the answer ended before its status');
  return { ...head, body: Buffer.concat(chunks).subarray(0, longestBody) };
}

/**
 * Sends one request, over a kept connection if there is one. If the receiver had closed that connection, the request is sent
 * once more over a new one: nobody has read it, or the receiver gets the same event a second time, as the contract allows.
 * @param budget time limit for everything, from name resolution to the body, in milliseconds
 * @throws timedOut, or the error of the connection
 */
export async function sendRequest(
  outgoing: Outgoing,
  { dial, budget, connections }: { dial: Dial; budget: number; connections: Connections },
): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const timeOver = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, budget);
  });
  let isKept = false;
  try {
    const addresses = await Promise.race([
      dial.resolve(bareHost(outgoing.url)),
      timeOver.then(() => {
        throw timedOut;
      }),
    ]);
    const way = { dial, addresses, timeOver, tenth: budget / 10 };
    const answer = await sendOnce(outgoing, { ...way, agent: connections }).catch((error: unknown) => {
      if (error instanceof ClosedWhileKept) return sendOnce(outgoing, way);
      throw error;
    });
    isKept = true;
    return answer;
  } finally {
    clearTimeout(timer);
    if (!isKept) dial.close();
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
