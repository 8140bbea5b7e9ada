import type { FastifyReply, FastifyRequest } from 'fastify';
import { sha256 } from '../platform/ids.ts';
import { maskSecrets } from '../platform/telemetry/masking.ts';
import { maskedAddress } from '../platform/telemetry/sent-text.ts';

/** Identifiers in a request, as the caller wrote them. No record needs to have them. */
export interface Names {
  clientId?: string | undefined;
  sessionId?: string | undefined;
  integrationId?: string | undefined;
  /** SHA-256 of an API key; never stored. */
  keyHash?: string | undefined;
}

/** Names of several requests. */
export type NameLists = Record<'clientIds' | 'sessionIds' | 'integrationIds' | 'keyHashes', string[]>;

/** Owner of a name. `keyId` is set if the name is the secret of an API key. */
export interface NameOwner {
  partnerId: string;
  keyId?: string;
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length > 0 && value.length <= 128 ? value : undefined;

function named(source: unknown, field: string): string | undefined {
  return text(sentText(source, field));
}

function sentText(source: unknown, field: string): string | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  const value = (source as Record<string, unknown>)[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The user of a Basic header. */
function basicUser(authorization: string): string | undefined {
  const [, credentials] = /^Basic +(\S+)$/i.exec(authorization) ?? [];
  return credentials && text(Buffer.from(credentials, 'base64').toString('utf8').split(':', 1)[0]);
}

/** The client id in an access token. The endpoint has verified the signature. */
function clientOfToken(token: string): string | undefined {
  const [, payload] = token.split('.', 2);
  try {
    return named(JSON.parse(Buffer.from(payload ?? '', 'base64url').toString('utf8')), 'client_id');
  } catch {
    return undefined;
  }
}

/** The session that a redirect leads to: `/verify/start` makes it. */
function sessionAhead(location: unknown): string | undefined {
  return /\/verify\/(?:session|phone)\/(ses_[0-9A-Za-z]{22})/.exec(String(location))?.[1];
}

export function namesIn({ body, query, params, headers }: FastifyRequest, reply: FastifyReply): Names {
  const { authorization = '' } = headers;
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  const clientId = named(body, 'client_id') ?? named(query, 'client_id') ?? basicUser(authorization);
  return {
    clientId: clientId ?? (bearer && clientOfToken(bearer)),
    sessionId: named(params, 'session_id') ?? sessionAhead(reply.getHeader('location')),
    integrationId: text(headers['x-svc-integration-id']),
    keyHash: bearer && sha256(bearer),
  };
}

/** What may be stored of the names. */
export function storedNames({ clientId, sessionId, integrationId }: Names) {
  return {
    ...(clientId && { clientId: maskSecrets(clientId) }),
    ...(sessionId && { sessionId: maskSecrets(sessionId) }),
    ...(integrationId && { integrationId: maskSecrets(integrationId) }),
  };
}

/** What a refused request sent that a partner may have mistyped, masked: it may be anything. */
export function sentIn({ body, query }: FastifyRequest): { redirectUri?: string; shop?: string } {
  const redirectUri = sentText(body, 'redirect_uri') ?? sentText(query, 'redirect_uri');
  const shop = sentText(body, 'shop_domain');
  return {
    ...(redirectUri === undefined ? {} : { redirectUri: maskedAddress(redirectUri) }),
    ...(shop === undefined ? {} : { shop: maskedAddress(shop) }),
  };
}

const distinct = (values: readonly (string | undefined)[]) =>
  [...new Set(values.filter((value) => value !== undefined && value !== ''))] as string[];

export const listsOf = (names: readonly Names[]): NameLists => ({
  clientIds: distinct(names.map(({ clientId }) => clientId)),
  sessionIds: distinct(names.map(({ sessionId }) => sessionId)),
  integrationIds: distinct(names.map(({ integrationId }) => integrationId)),
  keyHashes: distinct(names.map(({ keyHash }) => keyHash)),
});

/** Owner of a request: its client, else its sender. Undefined if none of the names exists. */
export function ownerOf(names: Names, known: ReadonlyMap<string, NameOwner>): NameOwner | undefined {
  const { clientId, keyHash, integrationId, sessionId } = names;
  const owners = [clientId, keyHash, integrationId, sessionId].flatMap((name) => known.get(name ?? '') ?? []);
  const keyId = known.get(keyHash ?? '')?.keyId;
  return owners[0] && { partnerId: owners[0].partnerId, ...(keyId && { keyId }) };
}

export const allOf = (names: Names): string[] => Object.values(listsOf([names])).flat();
