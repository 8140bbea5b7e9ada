import { once } from 'node:events';
import {
  type IncomingMessage,
  METHODS,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
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

/** The error of Node.js for a request that it cannot parse, with the bytes that it has read last. */
type ParserFault = NodeJS.ErrnoException & { rawPacket?: unknown };

/** How long further input is read before the socket is closed. Closing it immediately could lose the response. */
const closeDelayMs = 1_000;

/** The page for a browser whose headers are too large. Its requests stay too large until its user acts. */
const tooLargePage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Your browser sent too much data</title>
<h1>Your browser sent too much data</h1>
<p>Delete the cookies of this site in the settings of your browser. Then go back and try again.</p>
</html>
`;

/** Whether the beginning of a refused request is that of a browser which opens a page. */
const isBrowser = (head: string): boolean => /^(?:GET|POST) [^\0]*\r?\naccept:[^\r\n]*text\/html/i.test(head);

/** The body of a response, and the headers that depend on it. */
function contentOf(error: ApiError, head: string): { body: string; headers: Record<string, string> } {
  if (error.code === 'headers_too_large' && isBrowser(head)) {
    const type = {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
    };
    return { body: tooLargePage, headers: type };
  }
  const body = JSON.stringify(generalBody(error));
  return { body, headers: { 'content-type': 'application/json; charset=utf-8' } };
}

/**
 * The headers and the body of a response that ends its connection.
 * @param head the beginning of the request, as it was received
 */
function refusal(error: ApiError, head: string, further: Readonly<Record<string, string>>) {
  const { body, headers: ofContent } = contentOf(error, head);
  const headers = {
    date: new Date().toUTCString(),
    ...ofContent,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...further,
    'x-svc-error': error.code,
    connection: 'close',
  };
  return { status: error.status, headers, body };
}

/** A whole response as text, for a request that the parser has refused: Node.js has no response object for it. */
function asText({ status, headers, body }: ReturnType<typeof refusal>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
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
  const openResponses = new WeakMap<Socket, Set<ServerResponse>>();
  /** The connections that `answer` ends. One connection can have several faults, of which the first is answered. */
  const ending = new WeakSet<Socket>();

  function trackResponse({ socket }: IncomingMessage, response: ServerResponse): void {
    const responses = openResponses.get(socket) ?? new Set();
    openResponses.set(socket, responses.add(response));
    response.once('close', () => responses.delete(response));
  }

  function refusalOf({ code, rawPacket }: ParserFault) {
    const error = new ApiError(codes[code ?? ''] ?? 'malformed_http');
    const requestId = randomRequestId();
    logger.debug({ requestId, status: error.status, fault: code }, 'answered malformed HTTP');
    const further = { 'x-request-id': requestId, ...helpHeaders(error.code) };
    return refusal(error, Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : '', further);
  }

  async function answer(fault: ParserFault, socket: Socket): Promise<void> {
    if (!socket.writable || ending.has(socket)) return;
    ending.add(socket);
    const responses = [...(openResponses.get(socket) ?? [])];
    // The request with the fault never becomes complete. So the complete ones came earlier, and are answered first.
    const toEarlierRequests = responses.filter(({ req }) => req.complete);
    await Promise.all(toEarlierRequests.map((response) => once(response, 'close')));
    const isClosed = socket.destroyed || socket.writableEnded;
    // If the fault is in the body, the endpoint may have begun its response already.
    const isAnswered = responses.some(({ req, headersSent }) => !req.complete && headersSent);
    if (!isClosed && !isAnswered) socket.write(asText(refusalOf(fault)));
    socket.end();
    const timer = setTimeout(() => socket.destroy(), closeDelayMs);
    socket.once('close', () => clearTimeout(timer));
  }

  return {
    /** Answers a request that the HTTP parser of Node.js has refused, and closes its connection. */
    answer: (fault: ParserFault, socket: Socket): void => void answer(fault, socket),

    /** Answers requests whose method is of another protocol than HTTP. The parser of Node.js accepts those of RTSP. */
    refuseOtherMethods(handle: RequestListener): RequestListener {
      return (request, response) => {
        if (METHODS.includes(request.method ?? '')) return handle(request, response);
        const { status, headers, body } = refusalOf(new Error(`no method of HTTP: ${request.method}`));
        response.writeHead(status, headers).end(body);
      };
    },

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

/** The values of a header field, in the order of its lines. Node.js keeps the first one of some fields only. */
function valuesOf({ rawHeaders }: IncomingMessage, field: string): string[] {
  // `rawHeaders` is a flat list, in which each name is followed by its value.
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === field);
}

/** Whether the Host header is valid: exactly one, with a host as its value. HTTP/1.0 may omit it (RFC 9112 3.2). */
function hasValidHost(request: IncomingMessage): boolean {
  const [host, ...others] = valuesOf(request, 'host');
  return host === undefined ? request.httpVersion === '1.0' : others.length === 0 && hostForm.test(host);
}

/**
 * Whether the transfer coding is one that is decoded. HTTP/1.0 has none: a proxy of that version could read the body as the next
 * request (RFC 9112 6.1).
 */
function hasKnownCoding({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (httpVersion === '1.1' && /^chunked$/i.test(coding));
}

/** Fields that occur once. A proxy could read another value of a repeated one than this server. */
const singleFields = ['authorization', 'content-type'] as const;
const isRepeated = (request: IncomingMessage, field: (typeof singleFields)[number]): boolean =>
  request.headers[field] !== undefined && valuesOf(request, field).length > 1;

/** The versions that Node.js serves. It also reads 0.9 and 2.0 in a request line. */
const versions: readonly string[] = ['1.0', '1.1'];

/** The fault of request headers that Node.js has accepted; undefined if they are valid. */
export function headFault(request: IncomingMessage): ErrorCode | undefined {
  if (!versions.includes(request.httpVersion)) return 'malformed_http';
  const headerCount = request.rawHeaders.length / 2; // names and values
  if (headerCount > mostHeaders) return 'headers_too_large';
  const isSound = hasValidHost(request) && hasKnownCoding(request);
  return isSound && !singleFields.some((field) => isRepeated(request, field)) ? undefined : 'malformed_http';
}
