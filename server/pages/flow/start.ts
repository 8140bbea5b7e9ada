import type { StartQuery } from '../../../contracts/verification.ts';
import { sessionLifetimeSeconds } from '../../../contracts/verification.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { ApiError } from '../../platform/errors.ts';
import { languageAsked } from '../../platform/http/browser/language.ts';
import { subscriberOf } from '../../platform/http/limits/client-network.ts';
import { randomId, sha256 } from '../../platform/ids.ts';
import { methodsOf } from '../../sessions/methods.ts';
import type { Session } from '../../sessions/session.ts';
import { newBrowserSecret } from '../../sessions/session-access.ts';
import { stateHashOf } from '../../sessions/session-list-store.ts';
import type { VerificationSource } from '../../sessions/sources/source.ts';
import type { PagesContext } from '../context.ts';
import { createOpenidErrors, readOpenid } from './openid-start.ts';
import { checkStart, type StartFacts } from './start-checks.ts';

interface Caller {
  address: string;
  /** The caller's trace, which the session's webhooks are part of. */
  traceparent?: string | undefined;
}

/** Starts sessions: `GET /verify/start` (interface 4.1). The route's schema has checked the form of the query. */
export function createStart(context: PagesContext, sources: ReadonlyMap<string, VerificationSource>) {
  const { sessions, directory, hasIntegration, limit, startsPerMinute, baseUrl, clock } = context;

  /** Reads the records that the checks need. Only the codes of storefront clients need an integration. */
  async function readFacts(clientId: string, reading: { fresh: boolean }): Promise<StartFacts> {
    const { client, partner } = (await directory.client(clientId, reading)) ?? {};
    const [key, integrated] = await Promise.all([
      client && directory.apiKey(client.keyId),
      client?.kind === 'storefront' ? hasIntegration(clientId) : true,
    ]);
    return { client, partner, key, integrated, sources };
  }

  async function checkQuery(query: StartQuery) {
    const verdict = checkStart(query, await readFacts(query.client_id, { fresh: false }));
    // The directory's cache may be outdated: before a refusal, the database is read again.
    return verdict.admitted ? verdict : checkStart(query, await readFacts(query.client_id, { fresh: true }));
  }

  /** Limits starts, because a start is the only write that a caller without credentials can cause. */
  async function admit(clientId: string, address: string): Promise<void> {
    if (startsPerMinute === undefined) return;
    const refusal = 'Too many verifications were started from this address';
    await limit('start', `${subscriberOf(address)}|${clientId}`, { perMinute: startsPerMinute, refusal });
  }

  /**
   * @returns the new session's id, its partner, and the secret for the cookie that binds the browser to it
   * @throws ApiError `invalid_request`, which tells the developer the reason; `rate_limited`
   */
  async function start(
    query: StartQuery,
    { address, traceparent }: Caller,
  ): Promise<{ sessionId: string; partnerId: string; browserSecret: string }> {
    const verdict = await checkQuery(query);
    if (!verdict.admitted) throw new ApiError('invalid_request', { description: verdict.because });
    const { client, sources: offered, scope, isOpenid } = verdict;
    const openid = isOpenid ? readOpenid(query) : undefined;
    await admit(client._id, address);
    const browserSecret = newBrowserSecret();
    const maxAgeSeconds = client.maxVerificationAgeSeconds;
    const createdAt = new Date(clock.now());
    const session: Session = {
      _id: randomId('session'),
      partnerId: client.partnerId,
      clientId: client._id,
      keyId: client.keyId,
      mode: client.mode,
      source: offered[0],
      // With one source, there is nothing to choose.
      ...(offered.length > 1 ? { methods: methodsOf(offered) } : {}),
      redirectUri: query.redirect_uri,
      state: query.state,
      stateHash: stateHashOf(query.state),
      scope,
      codeChallenge: query.code_challenge,
      ...givenFields({
        openid,
        maxVerificationAge: maxAgeSeconds === undefined ? undefined : maxAgeSeconds * 1000,
        clientReferenceId: query.client_reference_id,
        language: languageAsked(query.ui_locales),
        traceparent,
      }),
      status: 'pending',
      browserHash: sha256(browserSecret),
      timeline: [{ at: createdAt, event: 'started' }],
      outbox: [],
      createdAt,
      expiresAt: new Date(createdAt.getTime() + sessionLifetimeSeconds * 1000),
    };
    await sessions.insert(session);
    return { sessionId: session._id, partnerId: session.partnerId, browserSecret };
  }

  return {
    start,
    /** Returns where the partner is told of a refused start; undefined if the browser gets the error. */
    errorRedirect: createOpenidErrors((id) => readFacts(id, { fresh: true }), baseUrl),
  };
}
