import { createServer, type RequestListener, validateHeaderValue } from 'node:http';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { type ErrorCode, errorAnchor } from '../../../contracts/errors.ts';
import type { ProxyTrust } from '../config/proxy-trust.ts';
import { ApiError } from '../errors.ts';
import { randomRequestId } from '../ids.ts';
import type { Logger } from '../telemetry/logging.ts';
import { readTraceparent } from '../telemetry/trace-context.ts';
import { failureOf, logAnswer, noteFailure } from './answer-log.ts';
import { refuseCompressed } from './body-text.ts';
import { asGeneral, asOAuth, codeHeader, type ErrorRendering, renderErrors } from './errors.ts';
import { acceptJson } from './json.ts';
import { createMalformedAnswers, headFault } from './malformed.ts';
import { pathOf, requireTextInQuery } from './parameters.ts';
import { oneAtATime } from './pipelining.ts';
import { boundHeaders } from './request-headers.ts';
import { refuseUnknownRoutes } from './unknown-routes.ts';

/** Largest request body in bytes. */
const bodyLimit = 64 * 1024;
/** The most characters of a path parameter: as many as Node.js accepts in a whole path. Endpoints check their identifiers. */
const longestParameter = 16 * 1024;
/** How long a silent connection is kept, in milliseconds. */
const connectionTimeout = 60_000;
/** How long a connection is kept after a response, in milliseconds: longer than load balancers keep theirs. */
const keepAliveTimeout = 72_000;

/** Time limits in milliseconds. */
export const arrivalTimes = {
  /** For the headers of a request. At most as long as `request`; otherwise Node.js would exchange the two. */
  headers: 10_000,
  /** For a whole request. */
  request: 15_000,
  /** The time between two checks for late connections. */
  check: 1_000,
};
export type ArrivalTimes = typeof arrivalTimes;

export type HttpServer = FastifyInstance;

/** An escape of a letter, a digit or `-._~`. No address of the service has one (RFC 3986, 2.3). */
const needlessEscape = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/i;

/** Whether the router can take a path as it is. */
function isRoutable(path: string): boolean {
  try {
    decodeURI(path);
    return !needlessEscape.test(path);
  } catch {
    return false;
  }
}

/** A request line may hold a whole address (RFC 9112 3.2.2). Its path decides, as the one of a usual request line. */
const withoutOrigin = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, '') || '/';

/**
 * Escapes the percent signs of a path that has a malformed escape or a needless one. With a malformed one, the router would refuse
 * the path before an endpoint could check credentials. With a needless one, it would find a route that a proxy's rule for the path
 * does not recognise: `/%70ortal` is not `/portal`. The query stays unchanged.
 */
function routableUrl(url: string): string {
  const path = pathOf(url);
  return isRoutable(path) ? url : path.replaceAll('%', '%25') + url.slice(path.length);
}

interface Settings {
  logger: Logger;
  trustProxy: ProxyTrust;
  arrival?: ArrivalTimes;
  /** True once the process was asked to end, which is before the listener closes. */
  isStopping?: () => boolean;
  /** Address of the page that explains errors, with an anchor for each code; absent if there is none. */
  errorPage?: string;
}

const headersOf = ({ id }: FastifyRequest) => ({ 'x-request-id': id, 'x-content-type-options': 'nosniff' });

/** Removes headers that cannot be sent: Fastify would replace the whole answer with one of its own format. */
function removeUnsendable(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    try {
      for (const each of [value].flat()) validateHeaderValue(name, String(each));
    } catch (err) {
      reply.log.error({ err, header: name }, 'a header of an error answer cannot be sent');
      void reply.removeHeader(name);
    }
  }
}

/** A server that closes slow connections, and handles the requests of a connection one after another. */
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
 * The Fastify server of every listener. Requests and responses are checked by zod. Every response has `X-Request-Id` and
 * `X-Content-Type-Options`. All errors have the contract's formats, never the framework's own.
 */
export function createHttpServer({
  logger,
  trustProxy,
  arrival = arrivalTimes,
  isStopping = () => false,
  errorPage,
}: Settings): HttpServer {
  const helpHeaders = (code: string, isOauth = false) =>
    errorPage ? { link: `<${errorPage}#${errorAnchor(code, isOauth)}>; rel="help"` } : {};
  const malformed = createMalformedAnswers(logger, helpHeaders);
  const app = fastify({
    loggerInstance: logger as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory(parent, bindings, options, { headers }) {
      const trace = readTraceparent(headers['traceparent']);
      return parent.child(trace ? { ...bindings, traceId: trace.traceId } : bindings, options);
    },
    bodyLimit,
    serverFactory: (handle) => listenerFor(malformed.refuseOtherMethods(handle as RequestListener), arrival),
    // A number of proxies is passed as a function, because Fastify trusts none if it is given a number. The peer has hop 0.
    trustProxy: typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy,
    genReqId: randomRequestId,
    routerOptions: { maxParamLength: longestParameter },
    rewriteUrl: ({ url = '/' }) => routableUrl(withoutOrigin(url)),
    forceCloseConnections: 'idle', // at a stop; the other connections end with their responses
    return503OnClosing: false, // Fastify would refuse, in its own words, requests that can still be answered
    clientErrorHandler: malformed.answer,
    // The router refuses a path that is no text, before any hook.
    frameworkErrors: (_error, request, reply) =>
      refuseUnroutable(request as FastifyRequest, reply as FastifyReply),
  });

  nameEachPlugin(app);
  malformed.watch(app.server);
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.removeContentTypeParser('text/plain'); // No endpoint accepts it, so it gets the error for a wrong content type.
  acceptJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(headersOf(request));
    const fault = headFault(request.raw);
    if (fault) return refuseMalformed(fault, request, reply);
    boundHeaders(request.raw.headers);
    done();
  });
  refuseUnknownRoutes(app);
  // These two come after the checks of credentials, which are made by `onRequest`.
  app.addHook('preParsing', refuseCompressed);
  app.addHook('preValidation', requireTextInQuery);
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply);
    done();
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    // Pages show an error in their own way, and its code is the one of the failure that was noted.
    const noted = reply.statusCode >= 400 ? failureOf(request)?.code : undefined;
    const code = reply.getHeader(codeHeader) ?? noted;
    if (typeof code === 'string')
      void reply.headers({ [codeHeader]: code, ...helpHeaders(code, hasOauthFormat(request)) });
    if (reply.statusCode >= 400) removeUnsendable(reply);
    done();
  });
  endConnectionsOnStop(app, isStopping);
  renderErrors(app, asItsPath);
  return app;
}

/** The property of a plugin by which Fastify knows its name. */
const displayName = Symbol.for('fastify.display-name');

/**
 * Gives each plugin a name. For a plugin without one, Fastify looks twice through all loaded modules, which takes a fifth of a
 * server's start.
 */
function nameEachPlugin(app: FastifyInstance): void {
  const { register } = app;
  Object.assign(app, {
    register(this: FastifyInstance, plugin: { name: string }, options: object) {
      if (!(displayName in plugin)) Object.assign(plugin, { [displayName]: plugin.name || 'routes' });
      return Reflect.apply(register, this, [plugin, options]);
    },
  });
}

/**
 * Once the process stops, each connection ends with its next response. So keep-alive clients send no request into a
 * connection that is being closed, and the stop does not wait for them.
 */
function endConnectionsOnStop(app: FastifyInstance, isStopping: () => boolean): void {
  /** A listener can also be closed alone, while the process continues. */
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

/** Answers malformed HTTP in the format of its path. A route's schema would make another format a 500. */
function refuseMalformed(code: ErrorCode, request: FastifyRequest, reply: FastifyReply): void {
  const error = new ApiError(code);
  noteFailure(request, error);
  asItsPath(error, request, reply.status(error.status).header('connection', 'close'));
}

/** OAuth endpoints have their own format of errors (interface 2.4). */
const hasOauthFormat = ({ url }: FastifyRequest): boolean => url.startsWith('/api/oauth/');

/** Sends an error in the format of its path. */
const asItsPath: ErrorRendering = (error, request, reply) => {
  const render = hasOauthFormat(request) ? asOAuth : asGeneral;
  return render(error, request, reply);
};

function refuseUnroutable(request: FastifyRequest, reply: FastifyReply): void {
  const error = new ApiError('route_not_found');
  noteFailure(request, error);
  void reply.status(error.status).headers({ ...headersOf(request), 'cache-control': 'no-store' });
  asItsPath(error, request, reply);
}
