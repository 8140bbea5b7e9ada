import type { Attributes } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { failureOf } from '../http/answer-log.ts';

/** Methods that the stable semantic conventions of OpenTelemetry know; every other one is `_OTHER`. */
const knownMethods = new Set('CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT TRACE'.split(' '));

const mostParts = 8;
/** A part of a path that cannot be an identifier or a secret. */
const plainWord = /^\.?[a-z][a-z-]{0,31}$/;

/** The path for a span, without personal identifiers and codes: the route's template, or `*` for unknown parts. */
function pathOf({ url, routeOptions }: FastifyRequest): string {
  if (routeOptions.url !== undefined) return routeOptions.url;
  const [path = '/'] = url.split('?', 1);
  const parts = path.split('/').slice(0, mostParts);
  return parts.map((part) => (part === '' || plainWord.test(part) ? part : '*')).join('/');
}

export function requestSpan(request: FastifyRequest): { name: string; attributes: Attributes } {
  const { method, routeOptions, protocol, raw, id } = request;
  const isKnown = knownMethods.has(method);
  const route = routeOptions.url;
  return {
    name: [isKnown ? method : 'HTTP', route].filter(Boolean).join(' '),
    attributes: {
      'http.request.method': isKnown ? method : '_OTHER',
      ...(!isKnown && { 'http.request.method_original': method }),
      ...(route !== undefined && { 'http.route': route }),
      'url.scheme': protocol === 'https' ? 'https' : 'http',
      'url.path': pathOf(request),
      'network.protocol.version': raw.httpVersion,
      'svc.request_id': id,
    },
  };
}

/**
 * The attributes of the response. `error.type` is set for a 5xx, and if the caller disconnected before the response. A 4xx
 * is not an error of the server, so only `svc.error` names its code.
 */
export function answerAttributes(request: FastifyRequest, { raw, statusCode }: FastifyReply): Attributes {
  const errorCode = failureOf(request)?.code;
  const ourError = errorCode === undefined ? {} : { 'svc.error': errorCode };
  if (!raw.headersSent) return { ...ourError, 'error.type': 'client_disconnected' };
  return {
    ...ourError,
    'http.response.status_code': statusCode,
    ...(statusCode >= 500 && { 'error.type': errorCode ?? String(statusCode) }),
  };
}
