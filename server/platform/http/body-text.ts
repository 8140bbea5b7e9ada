import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a request's body. A byte order mark before it is ignored, as RFC 8259 8.1 allows.
 * @throws ApiError `invalid_request` for bytes that are not UTF-8
 */
export function bodyText(body: Uint8Array): string {
  try {
    return strictUtf8.decode(body);
  } catch {
    throw new ApiError('invalid_request', { description: 'The request body is not UTF-8' });
  }
}

/** Refuses a compressed body before it is read, because its bytes would only be reported as malformed. */
export async function refuseCompressed({ headers }: FastifyRequest): Promise<void> {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  const shown = /^[a-z][a-z-]{0,19}$/.test(encoding) ? ` ${encoding}` : '';
  const description = `Content-Encoding${shown} is not supported: send the body without compression`;
  throw new ApiError('invalid_request', { description });
}
