import { ApiError } from '../platform/errors.ts';

/** Where a request has the client's credentials; `unreadable` in a header that holds none of ours. */
export type CredentialsPlace = 'body' | 'basic' | 'unreadable';

interface Presented {
  body: unknown;
  place: CredentialsPlace;
}

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

/** Takes the place of credentials that cannot be read, so that the rest of the body is judged before them. */
const placeholder = 'unreadable';

/**
 * The body with the credentials of a Basic header written into it, as if they had been sent there.
 * A header of another scheme beside credentials in the body is ignored: shared HTTP clients send theirs everywhere.
 * @throws ApiError invalid_request where the body and a Basic header carry credentials
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
