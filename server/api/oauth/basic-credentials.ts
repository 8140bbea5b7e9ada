import { isUtf8 } from 'node:buffer';
import { textFault } from '../../../contracts/input-text.ts';
import { ClientCredentials } from '../../../contracts/oauth.ts';
import { ApiError } from '../../platform/errors.ts';

/** Where a request has the client's credentials. `basic`: in a Basic header. `unreadable`: the header has another form. */
export type CredentialsPlace = 'body' | 'basic' | 'unreadable';

interface Merged {
  body: unknown;
  place: CredentialsPlace;
}

/** Decodes one half of Basic credentials. Both halves are form-url-encoded before they are joined (RFC 6749 2.3.1). */
function decodeForm(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** Reads a header `Basic base64(id:secret)`. @returns undefined if it has another form, or no client can have such credentials */
function parse(header: string): { id: string; secret: string } | undefined {
  const { encoded } = /^basic +(?<encoded>[A-Za-z0-9+/=_-]+) *$/i.exec(header)?.groups ?? {};
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (!isUtf8(bytes)) return undefined;
  const { id, secret } = /^(?<id>[^:]+):(?<secret>.*)$/s.exec(bytes.toString('utf8'))?.groups ?? {};
  if (id === undefined || secret === undefined) return undefined;
  try {
    const credentials = { id: decodeForm(id), secret: decodeForm(secret) };
    const { success } = ClientCredentials.safeParse({
      client_id: credentials.id,
      client_secret: credentials.secret,
    });
    return success && !textFault(credentials.id + credentials.secret) ? credentials : undefined;
  } catch {
    return undefined; // a `%` without two hexadecimal digits
  }
}

/** Replaces credentials that cannot be read, so that the rest of the body is checked before they are refused. */
const placeholder = 'unreadable';

/**
 * Returns the body with the credentials of a Basic header in it, as if they had been sent in the body.
 * @throws ApiError `invalid_request` if both the body and a Basic header have credentials
 */
export function mergeCredentials(header: string | undefined, body: unknown): Merged {
  // Without a header, the body has the credentials. A body that is no object is refused later, by the schema of the request.
  if (!header || typeof body !== 'object' || body === null) return { body, place: 'body' };
  const { client_id: idInBody, client_secret: secretInBody } = body as Record<string, unknown>;
  const isBasic = /^basic(?= |$)/i.test(header);
  // Shared HTTP clients send the header of another scheme to every server, so it is ignored.
  if (!isBasic && secretInBody !== undefined) return { body, place: 'body' };
  const basic = parse(header);
  // The id alone may be in both, because it is no secret.
  const isSameId = idInBody === undefined || idInBody === basic?.id;
  if (secretInBody !== undefined || (basic && !isSameId)) {
    throw new ApiError('invalid_request', {
      description: 'Send the client credentials in the body or in the Authorization header, not in both',
    });
  }
  const { id, secret } = basic ?? { id: placeholder, secret: placeholder };
  return { body: { ...body, client_id: id, client_secret: secret }, place: basic ? 'basic' : 'unreadable' };
}
