import { inFile } from './mutation.ts';

/** Mutations of the hosted flow: starts, browsers, forms, the code and the redirect. */
export const flow = [
  ...inFile(
    'server/verification/flow/start-checks.ts',
    ['verification/flow/start-checks', 'verification/flow/start', 'storefront/start'],
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
    'server/platform/http/csrf.ts',
    ['verification/flow/flow', 'verification/pages/headers', 'verification/flow/races'],
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
    'server/verification/browser/session-access.ts',
    ['verification/flow/flow', 'verification/handoff/cookies'],
    [
      [
        'secret !== undefined && sameText(sha256(secret), browserHash)',
        "secret !== undefined && browserHash !== ''",
      ],
    ],
  ),
  ...inFile(
    'server/verification/browser/session-access.ts',
    ['verification/flow/flow', 'verification/flow/races'],
    [
      ["if (!owns(session, browser)) throw new ApiError('unauthorized');", ''],
      ['const rotated = rotatedSecret(browser, sent, token);', 'const rotated = sent;'],
    ],
  ),
  ...inFile(
    'server/verification/pages/responses.ts',
    ['verification/flow/other-browser'],
    [['const session = isOwn ? found : undefined;', 'const session = found;']],
  ),
  ...inFile(
    'server/verification/flow/submit.ts',
    ['verification/flow/flow', 'verification/handoff/handoff'],
    [
      ["if (!isGenuine) throw new ApiError('cross_site_request');", ''],
      ["failed(session, 'consent_declined', now())", "failed(session, 'abandoned', now())"],
      [
        "if (decision !== 'confirm' || handoff?.state !== 'claimed' || !userId)",
        "if (handoff?.state !== 'claimed' || !userId)",
      ],
    ],
  ),
  ...inFile(
    'server/verification/flow/submit.ts',
    ['verification/handoff/handoff'],
    [['if (isAtPhone) return unchanged;', '']],
  ),
  ...inFile(
    'server/verification/flow/provider-return.ts',
    ['verification/handoff/provider', 'verification/flow/methods'],
    [
      ["if (device === 'computer' && session.handoff?.state === 'claimed') return undefined;", ''],
      ['if (!request && (session.handoff || session.methods)) return undefined;', ''],
      ['session.handoff || session.methods', 'session.handoff'],
    ],
  ),
  ...inFile(
    'server/verification/sources/authorization-request.ts',
    ['verification/flow/methods'],
    [['...(turn === undefined ? [] : [turn])', '']],
  ),
  ...inFile(
    'server/verification/session/steps.ts',
    ['verification/flow/methods'],
    [['return methods ?', 'return methods === null ?']],
  ),
  ...inFile(
    'server/verification/session/methods.ts',
    ['verification/flow/methods', 'identity-wallet/methods'],
    [
      ['  wallet: closedRequests(carried),\n', ''],
      ['failed: canRetry ? methods.failed : [...methods.failed, last]', 'failed: methods.failed'],
      ['if (turn >= mostTurns) return failed(', 'if (turn < 0) return failed('],
    ],
  ),
  ...inFile(
    'server/verification/sources/oidc.ts',
    ['verification/sources/oidc-hostile'],
    [
      ['...(maxAge === undefined ? {} : { maxAge }),', ''],
      ['{ ...userinfo, ...idToken, ...verified }', '{ ...idToken, ...userinfo, ...verified }'],
    ],
  ),
  ...inFile(
    'server/verification/session/session-update-store.ts',
    ['verification/session/session-store'],
    [['filter: { _id, ...marks },', 'filter: { _id },']],
  ),
  ...inFile(
    'server/verification/people/user-store.ts',
    ['verification/people/user-store'],
    [
      ['{ _id: id, claims: {}, ...notErased }', '{ _id: id, claims: {} }'],
      [
        'updateOne({ _id: id, ...notErased }, { $set: changed, $min',
        'updateOne({ _id: id }, { $set: changed, $min',
      ],
    ],
  ),
  ...inFile(
    'server/verification/flow/redirect-uri.ts',
    ['verification/flow/redirect'],
    [['encodeURIComponent(value)', 'value']],
  ),
  ...inFile(
    'server/verification/flow/openid-start.ts',
    ['verification/flow/openid-start'],
    [
      ['!facts.client?.openid || clientFault', 'clientFault'],
      ["prompt?.includes('none')", 'false'],
      [' || isRepeated', ''],
    ],
  ),
  ...inFile(
    'server/oauth/id-token.ts',
    ['oauth/id-token'],
    [
      ['aud: clientId', 'aud: issuer'],
      ['nonce: openid.nonce', 'nonce: undefined'],
      ['value !== null', 'true'],
      ['.subarray(0, 16)', ''],
      ['auth_time: seconds(openid.authenticatedAt)', 'auth_time: seconds(at)'],
    ],
  ),
  ...inFile(
    'server/verification/flow/complete.ts',
    ['verification/flow/redirect'],
    [
      ['if (registered.includes(redirectUri)) return', 'if (registered.length > 0) return'],
      ['{ code, state, iss: issuer, session_id', '{ code, state, session_id'],
    ],
  ),
  ...inFile(
    'server/verification/flow/complete.ts',
    [
      'verification/flow/flow',
      'verification/flow/races',
      'verification/people/people',
      'verification/people/claims-snapshot',
      'oauth/token-code',
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
    'server/verification/flow/verify.ts',
    ['verification/people/people', 'verification/sharing'],
    [
      [
        "if (outcome.kind === 'failed') return failed(session, outcome.reason, now);",
        "if (outcome.kind === 'failed') return failed(session, 'abandoned', now);",
      ],
      ['if (outcome.duplicate) {', 'if (false) {'],
    ],
  ),
  ...inFile(
    'server/verification/people/enroll.ts',
    ['verification/sharing', 'verification/people/people'],
    [["session.status === 'complete' ? claimsAskedFor(session) : []", 'claimsAskedFor(session)']],
  ),
];
