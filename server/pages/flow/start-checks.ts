import { canBePositive, isClaimName } from '../../../contracts/claims.ts';
import { openidScope } from '../../../contracts/openid.ts';
import type { StartQuery } from '../../../contracts/verification.ts';
import type { Client } from '../../partners/clients/client-store.ts';
import type { Partner } from '../../partners/partner-store.ts';
import { describeMistake } from '../../platform/keys/credential-kinds.ts';
import { nearestOf, showSent } from '../../platform/keys/sent-text.ts';
import type { VerificationSource } from '../../sessions/sources/source.ts';

/** The records that the checks read. A field is absent if its record does not exist. */
export interface StartFacts {
  client?: Client | undefined;
  partner?: Pick<Partner, 'status'> | undefined;
  key?: { status: 'active' | 'revoked' } | undefined;
  /** For storefront clients: whether an integration exchanges their codes. */
  integrated: boolean;
  sources: ReadonlyMap<string, Pick<VerificationSource, 'modes' | 'answers'>>;
}

export type StartVerdict =
  /** `sources`: the only one, or those that the user may choose from. `isOpenid`: whether an ID token was asked for. */
  | {
      admitted: true;
      client: Client;
      sources: readonly [string, ...string[]];
      scope: string[];
      isOpenid: boolean;
    }
  | { admitted: false; because: string };

const refuse = (because: string): StartVerdict => ({ admitted: false, because });

/** Identifiers of a scope in the order asked, each once (RFC 6749 3.3). */
export function parseScope(scope: string): string[] {
  return [...new Set(scope.split(' ').filter((identifier) => identifier !== ''))];
}

/** Adds the client's default claims to a scope that has `openid` and no claim, as programs send that know no claims of ours. */
const withDefaultClaims = (scope: string[], { defaultClaims = [] }: Client): string[] =>
  scope.some(isClaimName) ? scope : [...scope, ...defaultClaims];

/**
 * Returns why a scope is refused. Unknown identifiers are ignored; a scope that has only these is refused. Only the refusal for
 * a test client names the client's settings: the id of a live client is public, so anyone could read them.
 */
function scopeFault(scope: readonly string[], { claims: permitted, mode }: Client): string | undefined {
  const known = scope.filter(isClaimName);
  const [notPermitted] = known.filter((name) => !permitted.includes(name));
  const permittedHint = mode === 'test' ? `; permitted: ${permitted.join(' ') || 'nothing'}` : '';
  if (notPermitted) return `scope: this client may not ask for ${notPermitted}${permittedHint}`;
  if (known.length > 0) return undefined;
  const separatorHint = scope.some((name) => /[,;+|]/.test(name))
    ? '; identifiers are separated by spaces'
    : '';
  const sentHint = mode === 'test' ? `; sent: ${showSent(scope.join(' ')) || 'nothing'}` : '';
  return `scope: no known claim identifier in it${separatorHint}${sentHint}${permittedHint}`;
}

/** Names registered URIs for test clients only, as `scopeFault` does with the client's other settings. */
function redirectFault(sent: string, { redirectUris, mode }: Client): string {
  const fault = 'redirect_uri: not registered for this client; it must match exactly';
  const nearest = mode === 'test' ? nearestOf(sent, redirectUris) : undefined;
  return nearest === undefined
    ? fault
    : `${fault}. Sent: ${showSent(sent)}; nearest registered: ${showSent(nearest)}`;
}

/**
 * The names of the client's sources that serve its mode and can answer some of the claims. If none can answer any, the first one
 * is used, as it is for a client that has only one source. A test client without a setting has the sandbox.
 */
function sourcesFor(
  { mode, source: onlySource, sources: severalSources }: Client,
  scope: readonly string[],
  { sources: installed }: StartFacts,
): readonly string[] {
  const defaultSources = mode === 'test' ? ['sandbox'] : [];
  const wanted = severalSources ?? (onlySource === undefined ? defaultSources : [onlySource]);
  const serving = wanted.filter((name) => installed.get(name)?.modes.includes(mode));
  const claims = scope.filter(isClaimName);
  const answering = serving.filter((name) => installed.get(name)?.answers(claims).length);
  return answering.length > 0 ? answering : serving.slice(0, 1);
}

/** A live client without a setting gets a text of its own, because the default source is the sandbox. */
function noSourceReason({ mode, source }: Client): string {
  if (mode === 'live' && (source === undefined || source === 'sandbox')) {
    return 'this live client has no verification source; the sandbox serves test clients only, so use one of those or have a source configured';
  }
  return `the verification source ${source ?? 'sandbox'} of this client does not exist or does not serve ${mode} clients`;
}

/** Returns why the client cannot start, or cannot use this redirect URI. Undefined if both are right. */
export function clientFault(
  query: Pick<StartQuery, 'client_id' | 'redirect_uri'>,
  { client, partner, key, integrated }: StartFacts,
): string | undefined {
  if (!client || !partner)
    return describeMistake('client_id', query.client_id, 'clientId') ?? 'client_id: unknown client';
  if (client.status !== 'active') return 'client_id: this client is disabled';
  if (partner.status !== 'active') return 'client_id: the partner account is not active';
  if (key?.status !== 'active') return 'client_id: the API key of this client is revoked';
  if (client.kind === 'storefront' && !integrated)
    return 'client_id: this storefront client has no integration';
  if (client.kind === 'storefront' && !canBePositive(client.claims))
    return 'client_id: this storefront client has no claim that can be true';
  if (!client.redirectUris.includes(query.redirect_uri)) return redirectFault(query.redirect_uri, client);
  return undefined;
}

/**
 * Checks a well-formed query of `/verify/start` (interface 4.1, docs/choices.md). A refusal is always a 400 and
 * never a redirect, except for OpenID Connect, because its errors are sent to the partner (`createOpenidErrors`).
 */
export function checkStart(query: StartQuery, facts: StartFacts): StartVerdict {
  const { client } = facts;
  const unfit = clientFault(query, facts);
  if (!client || unfit !== undefined) return refuse(unfit ?? 'client_id: unknown client');
  const asked = parseScope(query.scope);
  const isOpenid = client.openid === true && asked.includes(openidScope);
  const scope = isOpenid ? withDefaultClaims(asked, client) : asked;
  const fault = scopeFault(scope, client);
  if (fault) return refuse(fault);
  const [first, ...others] = sourcesFor(client, scope, facts);
  if (first === undefined) return refuse(noSourceReason(client));
  return { admitted: true, client, sources: [first, ...others], scope, isOpenid };
}
