import { inFile } from './mutation.ts';

/** Mutations of the hosted flow: starts, browsers, forms, the code and the redirect. */
export const flow = [
  ...inFile(
    'server/pages/flow/start-checks.ts',
    ['pages/flow/start-checks', 'pages/flow/start', 'api/storefront/start', 'contract/section-4'],
    [
      ["if (client.status !== 'active') return", "if (client.status === ('never' as string)) return"],
      ["if (partner.status !== 'active') return", "if (partner.status === 'suspended') return"],
      ["if (key?.status !== 'active') return", 'if (!key) return'],
      [
        'if (!client.redirectUris.includes(query.redirect_uri)) return',
        'if (!client.redirectUris.some((uri) => query.redirect_uri.startsWith(uri))) return',
      ],
      ['!permitted.includes(name)', 'permitted.length === 0'],
      ["client.kind === 'storefront' && !integrated", 'integrated === undefined'],
    ],
  ),
  ...inFile(
    'server/platform/http/browser/csrf.ts',
    ['pages/flow/flow', 'pages/views/headers', 'pages/flow/races'],
    [
      [
        'return sameText(given, mac(browserSecret, nonce));',
        'return given.length === mac(browserSecret, nonce).length;',
      ],
      ["site !== 'same-origin' && site !== 'none'", "site === 'cross-site-never'"],
      ['origin === undefined || origin === ownOrigin', 'origin === undefined || ownOrigin.length > 0'],
    ],
  ),
  ...inFile(
    'server/sessions/session-access.ts',
    ['pages/flow/flow', 'pages/hand-off/cookies'],
    [
      [
        'secret !== undefined && sameText(sha256(secret), browserHash)',
        "secret !== undefined && browserHash !== ''",
      ],
    ],
  ),
  ...inFile(
    'server/sessions/session-access.ts',
    ['sessions/session-access', 'pages/flow/flow', 'pages/flow/races'],
    [
      ["if (!owns(session, browser)) throw new ApiError('unauthorized');", ''],
      ['const rotated = rotatedSecret(browser, sent, token);', 'const rotated = sent;'],
    ],
  ),
  ...inFile(
    'server/pages/views/responses.ts',
    ['pages/flow/other-browser'],
    [['const session = isOwn ? found : undefined;', 'const session = found;']],
  ),
  ...inFile(
    'server/pages/flow/submit.ts',
    ['pages/flow/flow', 'pages/hand-off/handoff'],
    [
      ["if (!isTokenOf(secret, csrf)) throw new ApiError('cross_site_request');", ''],
      ['if (reason && sessionAccess.mayRefuse(browser, secret, csrf)) {', 'if (reason) {'],
      ["mayDecline ? 'consent_declined' : undefined;", "mayDecline ? 'abandoned' : undefined;"],
      [
        "if (decision !== 'confirm' || handoff?.state !== 'claimed' || !userId)",
        "if (handoff?.state !== 'claimed' || !userId)",
      ],
    ],
  ),
  ...inFile(
    'server/pages/flow/submit.ts',
    ['pages/hand-off/handoff'],
    [['if (isAtPhone) return unchanged;', '']],
  ),
  ...inFile(
    'server/pages/flow/provider-return.ts',
    ['pages/hand-off/provider', 'pages/flow/methods'],
    [
      ["if (device === 'computer' && session.handoff?.state === 'claimed') return undefined;", ''],
      ['if (!request && (session.handoff || session.methods)) return undefined;', ''],
      ['session.handoff || session.methods', 'session.handoff'],
    ],
  ),
  ...inFile(
    'server/sessions/sources/authorization-request.ts',
    ['pages/flow/methods'],
    [['...(turn === undefined ? [] : [turn])', '']],
  ),
  ...inFile(
    'server/sessions/steps.ts',
    ['pages/flow/methods'],
    [['return methods ?', 'return methods === null ?']],
  ),
  ...inFile(
    'server/sessions/methods.ts',
    ['pages/flow/methods', 'identity-wallet/methods'],
    [
      ['  wallet: closedRequests(carried),\n', ''],
      ['failed: canRetry ? methods.failed : [...methods.failed, last]', 'failed: methods.failed'],
      ['if (turn >= mostTurns) return failed(', 'if (turn < 0) return failed('],
    ],
  ),
  ...inFile(
    'server/sessions/sources/oidc.ts',
    ['sessions/sources/oidc-hostile'],
    [
      ['...(maxAge === undefined ? {} : { maxAge }),', ''],
      ['{ ...userinfo, ...idToken, ...verified }', '{ ...idToken, ...userinfo, ...verified }'],
    ],
  ),
  ...inFile(
    'server/sessions/session-update-store.ts',
    ['sessions/session-store'],
    [['filter: { _id, ...marks },', 'filter: { _id },']],
  ),
  ...inFile(
    'server/people/users/user-store.ts',
    ['people/user-store'],
    [
      ['{ _id: id, claims: {}, ...notErased }', '{ _id: id, claims: {} }'],
      [
        'updateOne({ _id: id, ...notErased }, { $set: changed, $min',
        'updateOne({ _id: id }, { $set: changed, $min',
      ],
    ],
  ),
  ...inFile(
    'server/pages/flow/redirect-uri.ts',
    ['pages/flow/redirect'],
    [['encodeURIComponent(value)', 'value']],
  ),
  ...inFile(
    'server/pages/flow/openid-start.ts',
    ['pages/flow/openid-start'],
    [
      ['!facts.client?.openid || clientFault', 'clientFault'],
      ["prompt?.includes('none')", 'false'],
      [' || isRepeated', ''],
    ],
  ),
  ...inFile(
    'server/api/oauth/id-token.ts',
    ['api/oauth/id-token'],
    [
      ['aud: clientId', 'aud: issuer'],
      ['nonce: openid.nonce', 'nonce: undefined'],
      ['value !== null', 'true'],
      ['.subarray(0, 16)', ''],
      ['auth_time: seconds(openid.authenticatedAt)', 'auth_time: seconds(at)'],
    ],
  ),
  ...inFile(
    'server/pages/flow/complete.ts',
    ['pages/flow/redirect'],
    [
      ['if (registered.includes(redirectUri)) return', 'if (registered.length > 0) return'],
      ['{ ...values, state, iss: issuer, session_id', '{ ...values, state, session_id'],
    ],
  ),
  ...inFile(
    'server/pages/flow/complete.ts',
    [
      'pages/flow/flow',
      'pages/flow/races',
      'people/people',
      'people/claims-snapshot',
      'api/oauth/token-code',
    ],
    [
      ['clock.now() >= code.expiresAt.getTime()', 'clock.now() >= code.expiresAt.getTime() + 600_000'],
      ['if (isUsed) return undefined;', 'if (!isUsed) return undefined;'],
      [
        "if (!snapshot) return { transition: failed(session, 'abandoned', new Date(clock.now())) };",
        "if (!snapshot) throw new Error('erased');",
      ],
      ['const returning = firstSession !== session._id;', 'const returning = firstSession === session._id;'],
    ],
  ),
  ...inFile(
    'server/pages/flow/verify.ts',
    ['people/people', 'pages/sharing'],
    [
      [
        "if (outcome.kind === 'failed') return failed(session, outcome.reason, now);",
        "if (outcome.kind === 'failed') return failed(session, 'abandoned', now);",
      ],
      ['if (outcome.duplicate) {', 'if (false) {'],
    ],
  ),
  ...inFile(
    'server/people/enrollments/enroll.ts',
    ['pages/sharing', 'people/people'],
    [["session.status === 'complete' ? claimsAskedFor(session) : []", 'claimsAskedFor(session)']],
  ),
];
