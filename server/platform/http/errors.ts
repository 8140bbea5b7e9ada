import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { isUnavailable } from '../database/connect.ts';
import { ApiError, generalBody, oauthBody, unavailable } from '../errors.ts';
import { instructionOf } from '../validation-words.ts';
import { logAnswer, noteFailure } from './answer-log.ts';

const formType = 'application/x-www-form-urlencoded';

/** Sends an error in the format of its scope: one of the two of interface 7.1, or a page. */
export type ErrorRendering = (error: ApiError, request: FastifyRequest, reply: FastifyReply) => unknown;

/** A header with the error's code, for programs: the body of the general format has only a text, and OAuth has few codes. */
export const codeHeader = 'x-svc-error';

export const asGeneral: ErrorRendering = (error, _request, reply) =>
  reply.header(codeHeader, error.code).send(generalBody(error));
export const asOAuth: ErrorRendering = (error, _request, reply) =>
  reply.header(codeHeader, error.code).send(oauthBody(error));

/**
 * Describes the first fault as an instruction, such as `redirect_uri must be given once`.
 * @param forms whether the body may be a form. JSON is always accepted
 */
function describeValidation(
  error: { validation: { instancePath: string; message?: string }[]; validationContext?: string },
  forms: boolean,
): string {
  const [first] = error.validation;
  const message = first?.message ?? 'malformed';
  // The path has the form `/address/city`. It is empty for a fault of the whole body.
  const field = first?.instancePath.slice(1).replaceAll('/', '.');
  if (!field) {
    const isNoObject = message.startsWith('Invalid input: expected object');
    return isNoObject ? `The request body must be ${forms ? 'a form or ' : ''}a JSON object` : message;
  }
  // A message that the schema itself defines already names the field.
  if (message.startsWith(field)) return message;
  // A body that may be a form has parameters, like a query. A member of JSON can be a list.
  const isParameter = forms || error.validationContext !== 'body';
  // A repeated parameter is parsed into a list.
  const isRepeated = isParameter && message.endsWith('received array');
  const instruction = isRepeated ? 'must be given once' : instructionOf(message);
  return instruction === undefined ? `${field}: ${message}` : `${field} ${instruction}`;
}

const frameworkTexts: Record<string, string> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'The request body is larger than 64 KiB',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'Content-Length does not match the request body',
};

function describeFault(code: string, forms: boolean): string {
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return `Content-Type must be application/json${forms ? ` or ${formType}` : ''}`;
  return frameworkTexts[code] ?? 'The request is malformed';
}

/** Converts an error for the caller. Texts of the framework and of unknown errors are never sent. */
export function toApiError(error: unknown, { server }: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (isUnavailable(error)) return unavailable(error);
  const forms = server.hasContentTypeParser(formType);
  if (hasZodFastifySchemaValidationErrors(error)) {
    return new ApiError('invalid_request', { description: describeValidation(error, forms) });
  }
  // Errors of the framework have a code and a status. Other errors have none, and count as a 500.
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (statusCode < 500) {
    return new ApiError('invalid_request', { description: describeFault(code, forms) });
  }
  return new ApiError('server_error', { cause: error });
}

/** Renders every error that is thrown in `scope` through the error table. */
export function renderErrors(scope: FastifyInstance, rendering: ErrorRendering): void {
  scope.setErrorHandler((thrown, request, reply) => {
    const error = toApiError(thrown, request);
    noteFailure(request, error);
    void reply.status(error.status).headers(error.headers);
    // The response of a disconnected caller never finishes.
    if (reply.raw.destroyed) logAnswer(request, reply);
    return rendering(error, request, reply);
  });
}
