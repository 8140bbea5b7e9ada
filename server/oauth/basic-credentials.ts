import { ApiError } from '../platform/errors.ts';

/** RFC 6749 2.3.1: both halves are form-url-encoded before they are joined. */
function decodeForm(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function parse(header: string): { id: string; secret: string } | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header) ?? [];
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  try {
    return { id: decodeForm(text.slice(0, colon)), secret: decodeForm(text.slice(colon + 1)) };
  } catch {
    return undefined;
  }
}

/**
 * The body with the credentials of a Basic header written into it, as if they had been sent there.
 * @throws ApiError invalid_request where both carry credentials; invalid_client for a header that is not Basic
 */
export function withBasicCredentials(header: string | undefined, body: unknown): unknown {
  if (header === undefined) return body;
  const basic = parse(header);
  if (!basic) {
    throw new ApiError('invalid_client', {
      description: 'The Authorization header is not of the form Basic base64(client_id:client_secret)',
      headers: { 'www-authenticate': 'Basic realm="svc", charset="UTF-8"' },
    });
  }
  if (typeof body !== 'object' || body === null) return body;
  const { client_id: id, client_secret: secret } = body as Record<string, unknown>;
  if (secret !== undefined || (id !== undefined && id !== basic.id)) {
    throw new ApiError('invalid_request', {
      description: 'Send the client credentials in the body or in the Authorization header, not in both',
    });
  }
  return { ...body, client_id: basic.id, client_secret: basic.secret };
}
