import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors.ts';
import { causeOf } from '../telemetry/logging.ts';
import { maskSecrets } from '../telemetry/masking.ts';

/** Facts about a request for its log line. */
interface Notes {
  partner?: string;
  failure?: ApiError;
  isLogged?: true;
}

const notesByRequest = new WeakMap<FastifyRequest, Notes>();

/** The notes of a request, which are empty at first. */
function notesOf(request: FastifyRequest): Notes {
  const notes = notesByRequest.get(request) ?? {};
  notesByRequest.set(request, notes);
  return notes;
}

/** Records the partner of a request for its log line. */
export function notePartner(request: FastifyRequest, partnerId: string): void {
  notesOf(request).partner = partnerId;
}

/** Records why a request fails. The first failure stays, because it was answered. */
export function noteFailure(request: FastifyRequest, failure: ApiError): void {
  notesOf(request).failure ??= failure;
}

export const failureOf = (request: FastifyRequest): ApiError | undefined =>
  notesByRequest.get(request)?.failure;

export const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'none';

/** Describes an error for the log. Only an unknown error is logged with its stack. */
function describe({ code, message, cause, extras }: ApiError) {
  const description = { error: code, description: maskSecrets(message), detail: extras.detail };
  if (cause === undefined) return description;
  return code === 'server_error' ? { ...description, err: cause } : { ...description, cause: causeOf(cause) };
}

/** A failure that was logged where it was thrown needs no second line, so this one is only for debugging. */
function levelOf({ statusCode }: FastifyReply, failure: ApiError | undefined): 'debug' | 'info' | 'error' {
  if (failure?.extras.logged) return 'debug';
  return statusCode >= 500 ? 'error' : 'info';
}

/**
 * Writes the only log line of a request: the status and, for a failure, the reason. If the caller has disconnected, the error
 * handler calls it, and the end of the response may call it again.
 */
export function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const notes = notesOf(request);
  if (notes.isLogged) return;
  notes.isLogged = true;
  const { partner, failure } = notes;
  const line = {
    method: request.method,
    route: routeOf(request),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime),
    ...(partner && { partner }),
    ...(failure && describe(failure)),
  };
  request.log[levelOf(reply, failure)](line, 'answered');
}
