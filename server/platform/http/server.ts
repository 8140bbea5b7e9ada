import { createServer, type RequestListener } from 'node:http';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { ApiError } from '../errors.ts';
import { randomRequestId } from '../ids.ts';
import type { Logger } from '../telemetry/logging.ts';
import { readTraceparent } from '../telemetry/trace-context.ts';
import { logAnswer, noteFailure } from './answer-log.ts';
import { asGeneral, asOAuth, codeHeader, renderErrors } from './errors.ts';
import { acceptJson } from './json.ts';
import { createMalformedAnswers, headFault } from './malformed.ts';
import { oneAtATime } from './pipelining.ts';
import { boundHeaders } from './request-headers.ts';

/** Largest request body in bytes. */
const bodyLimit = 64 * 1024;
/** Characters of a path; Node accepts no more. Endpoints check their identifiers themselves. */
const longestUrl = 16 * 1024;
/** Milliseconds that a silent connection is kept. */
const connectionTimeout = 60_000;
/** Milliseconds that a connection is kept after an answer: longer than load balancers keep theirs. */
const keepAliveTimeout = 72_000;

/** Milliseconds. */
export interface ArrivalTimes {
  /** In this time the headers have to arrive. Node swaps `headers` and `request` where `headers` is larger. */
  headers: number;
  /** In this time a whole request has to arrive. */
  request: number;
  /** The time between two checks for late connections. */
  check: number;
}
export const arrivalTimes: ArrivalTimes = { headers: 10_000, request: 15_000, check: 1_000 };

export type HttpServer = FastifyInstance;

/**
 * A path with a malformed escape, with its percent signs escaped: the router would refuse it before any endpoint has
 * asked for credentials. The query stays as it is.
 */
export function routableUrl(url: string): string {
  const [path = ''] = url.split('?', 1);
  try {
    decodeURI(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

interface Settings {
  logger: Logger;
  trustProxy: boolean | number | string;
  arrival?: ArrivalTimes;
  /** True from the moment that the process was asked to end; before the listener closes. */
  isStopping?: () => boolean;
  /** Address of the page that explains each error at an anchor of its code; none where there is no such page. */
  errorPage?: string;
}

/** Headers of every answer, of whatever kind. */
const headersOf = ({ id }: FastifyRequest) => ({ 'x-request-id': id, 'x-content-type-options': 'nosniff' });

/** Connections that are slow to send are closed; requests of one connection are handled one after another. */
function listenerFor(handle: RequestListener, arrival: ArrivalTimes) {
  const server = createServer(
    {
      headersTimeout: arrival.headers,
      requestTimeout: arrival.request,
      connectionsCheckingInterval: arrival.check,
      keepAliveTimeout,
      requireHostHeader: false, // Node.js would answer without a body
    },
    oneAtATime(handle),
  );
  return server.setTimeout(connectionTimeout);
}

/**
 * A Fastify server, as every listener of the service has it. Requests and answers go through zod. Every answer has
 * `X-Request-Id` and `X-Content-Type-Options`. Whatever goes wrong, errors have the contract's formats, never the framework's own.
 */
export function createHttpServer({
  logger,
  trustProxy,
  arrival = arrivalTimes,
  isStopping = () => false,
  errorPage,
}: Settings): HttpServer {
  const helpHeaders = (code: string) => (errorPage ? { link: `<${errorPage}#${code}>; rel="help"` } : {});
  const malformed = createMalformedAnswers(logger, helpHeaders);
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory(parent, bindings, options, { headers }) {
      const trace = readTraceparent(headers['traceparent']);
      return parent.child(trace ? { ...bindings, traceId: trace.traceId } : bindings, options);
    },
    bodyLimit,
    serverFactory: (handle) => listenerFor(handle as RequestListener, arrival),
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    genReqId: randomRequestId,
    routerOptions: { maxParamLength: longestUrl },
    rewriteUrl: ({ url = '/' }) => routableUrl(url),
    forceCloseConnections: 'idle',
    return503OnClosing: false, // in the framework's words, and for a request that can be answered
    clientErrorHandler: malformed.answer,
    frameworkErrors(_error, request, reply) {
      void reply.headers(headersOf(request as FastifyRequest));
      refuse('route_not_found', request as FastifyRequest, reply as FastifyReply);
    },
  }).withTypeProvider<ZodTypeProvider>();

  malformed.watch(app.server);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.removeContentTypeParser('text/plain');
  acceptJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(headersOf(request));
    const fault = headFault(request.raw);
    if (fault) return refuseMalformed(fault, request, reply);
    boundHeaders(request.raw.headers);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply);
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    const code = reply.getHeader(codeHeader);
    if (typeof code === 'string') void reply.headers(helpHeaders(code));
    done();
  });
  endConnectionsOnStop(app, isStopping);
  renderErrors(app, asGeneral);
  refuseUnknownRoutes(app);
  return app as unknown as HttpServer;
}

/**
 * Each connection ends with its next answer once the process stops. Keep-alive clients then send no request into a
 * connection that is being closed, and a stop does not wait for them.
 */
function endConnectionsOnStop(app: FastifyInstance, isStopping: () => boolean): void {
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || isStopping()) void reply.header('connection', 'close');
    done();
  });
}

/** Answers malformed HTTP in the general format, at every path. */
function refuseMalformed(code: ErrorCode, request: FastifyRequest, reply: FastifyReply): void {
  const error = new ApiError(code);
  noteFailure(request, error);
  asGeneral(error, request, reply.status(error.status).header('connection', 'close'));
}

/** Answers that no endpoint is there: OAuth's body below /api/oauth; never to be cached (RFC 9110 15.1 would). */
function refuse(code: ErrorCode, request: FastifyRequest, reply: FastifyReply): unknown {
  const error = new ApiError(code);
  noteFailure(request, error);
  void reply.status(error.status).headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
  return (request.url.startsWith('/api/oauth/') ? asOAuth : asGeneral)(error, request, reply);
}

/** 404 for unknown paths, 405 with `Allow` for known ones. */
function refuseUnknownRoutes(app: FastifyInstance): void {
  const routes: { pattern: RegExp; method: string }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(
      `^${url
        .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:[^/]+/g, '[^/]+')
        .replace(/\*/g, '.*')}$`,
    );
    for (const one of [method].flat()) routes.push({ pattern, method: one });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
    // A route may know the method and have nothing at this path, as one for files.
    if (allowed.size === 0 || allowed.has(request.method)) return refuse('route_not_found', request, reply);
    return refuse('method_not_allowed', request, reply.header('allow', [...allowed].join(', ')));
  });
}
