import { inFile } from './mutation.ts';

/** Mutations of codes, clients, tokens, keys, signed calls and operators. */
export const authentication = [
  ...inFile(
    'server/oauth/token.ts',
    ['oauth/token-order', 'oauth/token-code', 'oauth/token'],
    [
      ['!grant || grant.clientId !== client._id', '!grant'],
      ["if (client.kind !== 'oauth') {", 'if (false as boolean) {'],
      ['sameText(sha256(request.code_verifier), grant.codeChallenge)', "request.code_verifier !== ''"],
      ['grant.wrongVerifiers >= maxWrongVerifiers', 'grant.wrongVerifiers > maxWrongVerifiers'],
      ['grant.expiresAt.getTime() <= now', 'grant.expiresAt.getTime() < now'],
      ['grant.redirectUri !== request.redirect_uri', '!request.redirect_uri.startsWith(grant.redirectUri)'],
      ['if (lost.length > 0) {', 'if (lost.length > 1) {'],
      ["grant.enrollment.status === 'active' ? undefined", 'grant ? undefined'],
    ],
  ),
  ...inFile(
    'server/oauth/token.ts',
    ['oauth/token-code', 'oauth/token'],
    [
      [
        'clock.now() - at.getTime() > concurrentUseWindowMs',
        'clock.now() - at.getTime() > 2 * concurrentUseWindowMs',
      ],
      ['if (past) throw await usedCode(past);', ''],
      [
        "throw fault === 'wrong verifier' ? await wrongVerifier(grant, request.code_verifier) : fault",
        "throw fault === 'wrong verifier' ? requireOwnCode(undefined, request.code, client) : fault",
      ],
    ],
  ),
  ...inFile(
    'server/oauth/client-authentication.ts',
    ['oauth/again', 'isolation/addresses', 'oauth/token-clients', 'oauth/token-limits', 'contract/section-8'],
    [
      [
        '{ clientId, clientSecret, address, basic }: Credentials',
        "{ clientId, clientSecret, basic }: Credentials, address = ''",
      ],
      ['subscriberOf(address)', 'address'],
      ['const wrongSecretsPerMinute = 20;', 'const wrongSecretsPerMinute = 21;'],
      ['acceptCached: (cached) => isRight(cached) && isActive(cached),', ''],
      ["client.status === 'active' && partner.status === 'active'", "client.status === 'active'"],
      ['if (await hasActiveKey(client)) return client;', 'return client;'],
      ['const tokenRequestsPerMinute = 30;', 'const tokenRequestsPerMinute = 31;'],
      ['!found || !isRight(found)', '!found'],
    ],
  ),
  ...inFile(
    'server/oauth/access-token.ts',
    ['oauth/access-token', 'oauth/token-forgery', 'oauth/userinfo'],
    [
      ['isExpired: exp * 1000 <= clock.now()', 'isExpired: false'],
      ['          audience: issuer,\n', ''],
      ["          typ: 'at+jwt',\n", ''],
    ],
  ),
  ...inFile(
    'server/oauth/access-token.ts',
    ['platform/keys/key-rotation'],
    [['earlier && keyring.publicKeys.some(({ kid }) => kid === earlier.kid)', 'earlier']],
  ),
  ...inFile(
    'server/platform/keys/key-rotation.ts',
    ['platform/keys/key-rotation'],
    [
      ['isReplaced ? undefined : await makeNext', 'isReplaced || now > 0 ? undefined : await makeNext'],
      ['Math.max(now, key.activeAt.getTime())', 'now'],
    ],
  ),
  ...inFile(
    'server/platform/keys/keyring.ts',
    ['platform/keys/key-rotation'],
    [['const keyringReadEvery = 1_000;', 'const keyringReadEvery = 30_000;']],
  ),
  ...inFile(
    'server/platform/keys/sealed-values.ts',
    ['admin/secrets'],
    [['value !== undefined && matches(value)', 'value !== undefined']],
  ),
  ...inFile(
    'server/wiring/secret-owners.ts',
    ['admin/secrets'],
    [
      ['time !== undefined && time.getTime() <= clock.now()', 'time !== undefined && time.getTime() < 0'],
      ["permanentFault(status === 'revoked',", "permanentFault(status !== 'revoked',"],
    ],
  ),
  ...inFile(
    'server/oauth/userinfo.ts',
    ['oauth/again', 'oauth/userinfo'],
    [
      ["access?.kind !== 'token'", '!access'],
      ['access.expiresAt.getTime() <= clock.now()', 'access.expiresAt.getTime() >= clock.now()'],
      ['const userinfoRequestsPerMinute = 120;', 'const userinfoRequestsPerMinute = 121;'],
    ],
  ),
  ...inFile(
    'server/oauth/revoke.ts',
    ['oauth/revoke'],
    [['token?.clientId === client._id', 'token !== undefined']],
  ),
  ...inFile(
    'server/partners/secrets.ts',
    ['partners/clients', 'oauth/token-clients'],
    [
      ['!expiresAt || expiresAt.getTime() > now', '!expiresAt || expiresAt.getTime() > 0'],
      ['kept.length < mostSecrets', 'kept.length <= mostSecrets'],
    ],
  ),
  ...inFile(
    'server/partners/admin-keys.ts',
    ['admin/audit-changes', 'partners/partners'],
    [
      ['before: { last4: current.last4 }', 'before: { last4: stored.last4 }'],
      ['        assertActive(current);\n', ''],
    ],
  ),
  ...inFile(
    'server/storefront/caller.ts',
    ['storefront/exchange', 'contract/section-5'],
    [
      ['const hasSigned = isSignedWith(secret, signature, raw)', 'const hasSigned = true'],
      [
        'Math.abs(clock.now() / 1000 - Number(timestamp)) > timestampSkewSeconds',
        'clock.now() / 1000 - Number(timestamp) > timestampSkewSeconds',
      ],
      ["if (status === 'active' && isActive(holder)", 'if (isActive(holder)'],
    ],
  ),
  ...inFile(
    'server/storefront/request-signature.ts',
    ['storefront/exchange', 'contract/section-5'],
    [
      ['.update(raw);', '.update(String(raw.length));'],
      [
        "const mac = createHmac('sha256', secret)",
        "timestamp = '';\n  const mac = createHmac('sha256', secret)",
      ],
    ],
  ),
  ...inFile(
    'server/verification/session/session-query.ts',
    ['oauth/again', 'verification/session/session-query', 'contract/section-8'],
    [
      ["key?.status !== 'active'", '!key'],
      ["if (session.keyId !== key._id) throw new ApiError('foreign_session');", ''],
      ['clock.now() >= session.expiresAt.getTime()', 'clock.now() > session.expiresAt.getTime()'],
      ['const queriesPerMinute = 60;', 'const queriesPerMinute = 61;'],
      [', { acceptCached: isActive }', ''],
    ],
  ),
  ...inFile(
    'server/admin/authentication.ts',
    ['isolation/addresses', 'admin/operators'],
    [
      ['const wrongTokensPerMinute = 10;', 'const wrongTokensPerMinute = 11;'],
      ['countFailure(subscriberOf(address));', "countFailure('all');"],
      ["if (operator?.status !== 'active') return undefined;", 'if (!operator) return undefined;'],
      ['expiresAt.getTime() <= clock.now()', 'expiresAt.getTime() < 0'],
    ],
  ),
];
