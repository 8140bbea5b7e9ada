import type { FastifyReply, FastifyRequest } from 'fastify';
import { textFault } from '../../../contracts/input-text.ts';
import { sha256 } from '../../platform/ids.ts';
import { maskedAddress } from '../../platform/telemetry/masked-address.ts';
import { maskSecrets } from '../../platform/telemetry/masking.ts';
import { presentedCode } from '../../sessions/code.ts';

/** Identifiers in a request, as the caller wrote them. They need not exist. */
export interface Names {
  clientId?: string | undefined;
  sessionId?: string | undefined;
  integrationId?: string | undefined;
  /** SHA-256 of an API key; never stored. */
  keyHash?: string | undefined;
}

/** The owner of the record that a name identifies. `keyId` is set if this record is an API key. */
export interface NameOwner {
  partnerId: string;
  keyId?: string;
}

const shortText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length > 0 && value.length <= 128 && textFault(value) === undefined
    ? value
    : undefined;

/** Returns a field of a body or query if it is a text that is not empty. */
function textIn(source: unknown, field: string): string | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  const value = (source as Record<string, unknown>)[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns an identifier in a body or query. A text that is too long cannot be one. */
const nameIn = (source: unknown, field: string): string | undefined => shortText(textIn(source, field));

function basicUser(authorization: string): string | undefined {
  const [, credentials] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  return credentials && shortText(Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0]);
}

/** Returns the client id in an access token. Like every name, it is what the caller wrote: the signature is not checked here. */
function clientOfToken(token: string): string | undefined {
  const [, payload] = token.split('.', 2);
  try {
    return nameIn(JSON.parse(Buffer.from(payload ?? '', 'base64url').toString('utf8')), 'client_id');
  } catch {
    return undefined;
  }
}

/** Returns the session that a redirect of `/verify/start` leads to. */
function sessionOfRedirect(location: unknown): string | undefined {
  return /\/verify\/(?:session|phone)\/(ses_[0-9A-Za-z]{22})/.exec(String(location))?.[1];
}

/** Returns the session of the code that a request sends. A code contains its id. */
function sessionOfCode(body: unknown): string | undefined {
  const code = textIn(body, 'code');
  return code === undefined ? undefined : presentedCode(code).sessionId;
}

/** Returns the identifiers in a request and in its response. */
export function namesIn({ body, query, params, headers }: FastifyRequest, reply: FastifyReply): Names {
  const { authorization = '' } = headers;
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  const clientId = nameIn(body, 'client_id') ?? nameIn(query, 'client_id') ?? basicUser(authorization);
  return {
    clientId: clientId ?? (bearer && clientOfToken(bearer)),
    sessionId:
      nameIn(params, 'session_id') ?? sessionOfCode(body) ?? sessionOfRedirect(reply.getHeader('location')),
    integrationId: shortText(headers['x-svc-integration-id']),
    keyHash: bearer && sha256(bearer),
  };
}

/** Returns the names that may be stored. Secrets in them are masked. */
export function storedNames({ clientId, sessionId, integrationId }: Names) {
  return {
    ...(clientId && { clientId: maskSecrets(clientId) }),
    ...(sessionId && { sessionId: maskSecrets(sessionId) }),
    ...(integrationId && { integrationId: maskSecrets(integrationId) }),
  };
}

/** Returns the redirect URI and the shop of a refused request, which a partner may have mistyped. Secrets are masked. */
export function possiblyMistyped({ body, query }: FastifyRequest): { redirectUri?: string; shop?: string } {
  const redirectUri = textIn(body, 'redirect_uri') ?? textIn(query, 'redirect_uri');
  const shop = textIn(body, 'shop_domain');
  return {
    ...(redirectUri === undefined ? {} : { redirectUri: maskedAddress(redirectUri) }),
    ...(shop === undefined ? {} : { shop: maskedAddress(shop) }),
  };
}

/**
 * Returns the owner of a request: of its client, or else of its API key, its integration or its session. Undefined if no record
 * has one of these names. `keyId` is the API key that the request was sent with.
 * @param owners the owners of the names that exist
 */
export function ownerOf(names: Names, owners: ReadonlyMap<string, NameOwner>): NameOwner | undefined {
  const ownerOfName = (name: string | undefined) => (name === undefined ? undefined : owners.get(name));
  const { clientId, keyHash, integrationId, sessionId } = names;
  const key = ownerOfName(keyHash);
  const owner = ownerOfName(clientId) ?? key ?? ownerOfName(integrationId) ?? ownerOfName(sessionId);
  return owner && { partnerId: owner.partnerId, ...(key?.keyId && { keyId: key.keyId }) };
}

export const hasNames = (names: Names): boolean => Object.values(names).some(Boolean);
