import { ApiError } from '../platform/errors.ts';

/** Where a request has the client's credentials. `unreadable` is a header without credentials in the right form. */
export type CredentialsPlace = 'body' | 'basic' | 'unreadable';

interface Presented {
  body: unknown;
  place: CredentialsPlace;
}

/** Decodes one half of Basic credentials. Both halves are form-url-encoded before they are joined (RFC 6749 2.3.1). */
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

/** Replaces credentials that cannot be read, so that the rest of the body is checked before they are refused. */
const placeholder = 'unreadable';

/**
 * Returns the body with the credentials of a Basic header in it, as if they had been sent in the body.
 * If the body has credentials, a header of another scheme is ignored, because shared HTTP clients send it everywhere.
 * @throws ApiError `invalid_request` if both the body and a Basic header have credentials
 */
export function presentCredentials(header: string | undefined, body: unknown): Presented {
  if (!header || typeof body !== 'object' || body === null) return { body, place: 'body' };
  const { client_id: id, client_secret: secret } = body as Record<string, unknown>;
  const isBasic = /^basic(?= |$)/i.test(header);
  if (!isBasic && secret !== undefined) return { body, place: 'body' };
  const basic = parse(header);
  if (secret !== undefined || (basic && id !== undefined && id !== basic.id)) {
    throw new ApiError('invalid_request', {
      description: 'Send the client credentials in the body or in the Authorization header, not in both',
    });
  }
  const { id: client_id, secret: client_secret } = basic ?? { id: placeholder, secret: placeholder };
  return { body: { ...body, client_id, client_secret }, place: basic ? 'basic' : 'unreadable' };
}
