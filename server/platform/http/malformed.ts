import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { ApiError, generalBody } from '../errors.ts';
import { randomRequestId } from '../ids.ts';
import type { Logger } from '../telemetry/logging.ts';

/** Faults of Node.js that have an answer of their own; any other is a 400. */
const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** Milliseconds for which what still arrives is read: a socket that is closed before would lose the answer. */
const lingerMs = 1_000;

function inBytes(error: ApiError, further: Readonly<Record<string, string>>): string {
  const body = JSON.stringify(generalBody(error));
  const headers = {
    date: new Date().toUTCString(),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...further,
    'x-svc-error': error.code,
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}

/**
 * Answers what is not HTTP, or did not arrive in time, with the general format (interface 7.1), and ends the connection.
 * Whole requests that came before it on the connection get their own answers first.
 * @param helpHeaders headers of an error that lead to its explanation
 */
export function createMalformedAnswers(
  logger: Pick<Logger, 'debug'>,
  helpHeaders: (code: ErrorCode) => Readonly<Record<string, string>>,
) {
  const unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  const ending = new WeakSet<Socket>();

  function observe({ socket }: IncomingMessage, response: ServerResponse): void {
    const others = unanswered.get(socket) ?? new Set();
    unanswered.set(socket, others.add(response));
    response.once('close', () => others.delete(response));
  }

  async function answer(fault: NodeJS.ErrnoException, socket: Socket): Promise<void> {
    if (!socket.writable || ending.has(socket)) return;
    ending.add(socket);
    const begun = [...(unanswered.get(socket) ?? [])];
    await Promise.all(begun.filter(({ req }) => req.complete).map((whole) => once(whole, 'close')));
    // The request whose body is malformed may have been answered before its body came.
    const isAnswered = begun.some(({ req, headersSent }) => !req.complete && headersSent);
    const isOver = socket.destroyed || socket.writableEnded;
    if (!isOver && !isAnswered) {
      const error = new ApiError(codes[fault.code ?? ''] ?? 'malformed_http');
      const requestId = randomRequestId();
      logger.debug({ requestId, status: error.status, fault: fault.code }, 'answered malformed HTTP');
      socket.write(inBytes(error, { 'x-request-id': requestId, ...helpHeaders(error.code) }));
    }
    socket.end();
    const cut = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(cut));
  }

  return {
    /** For the faults that the server's parser finds. */
    answer: (fault: NodeJS.ErrnoException, socket: Socket): void => void answer(fault, socket),

    /** Call this once with the server: what Node.js would otherwise answer by itself, without a body. */
    watch(server: Server): void {
      server.on('request', observe);
      server.on('connect', (_request, socket: Socket) => void answer(new Error('CONNECT'), socket));
      // RFC 9110 10.1.1 lets a server ignore what it does not know.
      server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    },
  };
}

/** Fields of a request; Node.js drops those after the 2,000th. */
const mostHeaders = 1_000;

/** uri-host [ ":" port ] of RFC 9110 7.2, with the characters of RFC 3986 3.2.2. */
const hostForm = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** RFC 9112 3.2: a request of HTTP/1.1 has one Host line, no request has two, and its value is a host. */
function hasSoundHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === 'host');
  const [host] = hosts;
  return host === undefined ? httpVersion === '1.0' : hosts.length === 1 && hostForm.test(host);
}

/** What is wrong with a head that Node.js lets through; undefined where it is sound. */
export function headFault(request: IncomingMessage): ErrorCode | undefined {
  if (request.rawHeaders.length > mostHeaders * 2) return 'headers_too_large';
  return hasSoundHost(request) ? undefined : 'malformed_http';
}
