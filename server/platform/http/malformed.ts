import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { ApiError, generalBody } from '../errors.ts';
import { randomRequestId } from '../ids.ts';
import type { Logger } from '../telemetry/logging.ts';

/** Faults of Node.js with an error code of their own. Any other is a 400. */
const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/** How long further input is read before the socket is closed. Closing it immediately could lose the response. */
const closeDelayMs = 1_000;

/** A whole response as text, for a request that the parser has refused: Node.js has no response object for it. */
function responseText(error: ApiError, further: Readonly<Record<string, string>>): string {
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
 * Answers malformed or late requests with the general error format (interface 7.1), and ends the connection. Complete
 * requests that came earlier on the connection are answered first.
 * @param helpHeaders response headers that link to the explanation of an error
 */
export function createMalformedAnswers(
  logger: Pick<Logger, 'debug'>,
  helpHeaders: (code: ErrorCode) => Readonly<Record<string, string>>,
) {
  /** The responses of each connection that have not ended. */
  const openResponses = new WeakMap<Socket, Set<ServerResponse>>();
  /** The connections that `answer` ends. One connection can have several faults, of which the first is answered. */
  const ending = new WeakSet<Socket>();

  function trackResponse({ socket }: IncomingMessage, response: ServerResponse): void {
    const responses = openResponses.get(socket) ?? new Set();
    openResponses.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  }

  function responseTo({ code }: NodeJS.ErrnoException): string {
    const error = new ApiError(codes[code ?? ''] ?? 'malformed_http');
    const requestId = randomRequestId();
    logger.debug({ requestId, status: error.status, fault: code }, 'answered malformed HTTP');
    return responseText(error, { 'x-request-id': requestId, ...helpHeaders(error.code) });
  }

  async function answer(fault: NodeJS.ErrnoException, socket: Socket): Promise<void> {
    if (!socket.writable || ending.has(socket)) return;
    ending.add(socket);
    const responses = [...(openResponses.get(socket) ?? [])];
    // The request with the fault never becomes complete. So the complete ones came earlier, and are answered first.
    const toEarlierRequests = responses.filter(({ req }) => req.complete);
    await Promise.all(toEarlierRequests.map((response) => once(response, 'close')));
    const isClosed = socket.destroyed || socket.writableEnded;
    // If the fault is in the body, the endpoint may have begun its response already.
    const isAnswered = responses.some(({ req, headersSent }) => !req.complete && headersSent);
    if (!isClosed && !isAnswered) socket.write(responseTo(fault));
    socket.end();
    const timer = setTimeout(() => socket.destroy(), closeDelayMs);
    socket.once('close', () => clearTimeout(timer));
  }

  return {
    /** Answers a request that the HTTP parser of Node.js has refused, and closes its connection. */
    answer: (fault: NodeJS.ErrnoException, socket: Socket): void => void answer(fault, socket),

    /** Call this once. It also handles the cases that Node.js would answer itself, without a body. */
    watch(server: Server): void {
      server.on('request', trackResponse);
      const unsupported = new Error('CONNECT is not supported');
      server.on('connect', (_request, socket: Socket) => void answer(unsupported, socket));
      // A server may ignore an unknown expectation (RFC 9110 10.1.1).
      server.on('checkExpectation', (request, response) => server.emit('request', request, response));
    },
  };
}

/** The most header fields of a request. Node.js drops fields after the 2,000th. */
const mostHeaders = 1_000;

/** uri-host [ ":" port ] of RFC 9110 7.2, with the characters of RFC 3986 3.2.2. */
const hostForm = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Whether the Host header is valid: exactly one, with a host as its value. HTTP/1.0 may omit it (RFC 9112 3.2). */
function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  // `rawHeaders` is a flat list, in which each name is followed by its value.
  const hosts = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host',
  );
  const [host] = hosts;
  return host === undefined ? httpVersion === '1.0' : hosts.length === 1 && hostForm.test(host);
}

/** The fault of request headers that Node.js has accepted; undefined if they are valid. */
export function headFault(request: IncomingMessage): ErrorCode | undefined {
  const headerCount = request.rawHeaders.length / 2; // names and values
  if (headerCount > mostHeaders) return 'headers_too_large';
  return hasValidHost(request) ? undefined : 'malformed_http';
}
