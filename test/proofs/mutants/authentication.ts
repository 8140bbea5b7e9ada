import { inFile } from './mutation.ts';

/** Mutations of codes, clients, tokens, keys, signed calls and operators. */
export const authentication = [
  ...inFile(
    'server/api/oauth/token.ts',
    ['api/oauth/token-order', 'api/oauth/token-code', 'api/oauth/token', 'contract/section-2-oauth'],
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
    'server/api/oauth/token.ts',
    ['api/oauth/token-code', 'api/oauth/token'],
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
    'server/api/oauth/client-authentication.ts',
    [
      'api/oauth/again',
      'isolation/addresses',
      'api/oauth/token-clients',
      'api/oauth/token-limits',
      'contract/section-8',
    ],
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
    'server/api/oauth/access-token.ts',
    ['api/oauth/access-token', 'api/oauth/token-forgery', 'api/oauth/userinfo'],
    [
      ['isExpired: exp * 1000 <= clock.now()', 'isExpired: false'],
      ['          audience: issuer,\n', ''],
      ["          typ: 'at+jwt',\n", ''],
    ],
  ),
  ...inFile(
    'server/api/oauth/access-token.ts',
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
    ['operations/secrets'],
    [['value !== undefined && matches(value)', 'value !== undefined']],
  ),
  ...inFile(
    'server/operations/secrets/secret-owners.ts',
    ['operations/secrets'],
    [
      ['time !== undefined && time.getTime() <= clock.now()', 'time !== undefined && time.getTime() < 0'],
      ["permanentFault(status === 'revoked',", "permanentFault(status !== 'revoked',"],
    ],
  ),
  ...inFile(
    'server/api/oauth/userinfo.ts',
    ['api/oauth/again', 'api/oauth/userinfo'],
    [
      ["access?.kind !== 'token'", '!access'],
      ['access.expiresAt.getTime() <= clock.now()', 'access.expiresAt.getTime() >= clock.now()'],
      ['const userinfoRequestsPerMinute = 120;', 'const userinfoRequestsPerMinute = 121;'],
    ],
  ),
  ...inFile(
    'server/api/oauth/revoke.ts',
    ['api/oauth/revoke'],
    [['token?.clientId === client._id', 'token !== undefined']],
  ),
  ...inFile(
    'server/partners/keys/secrets.ts',
    ['partners/clients', 'api/oauth/token-clients'],
    [
      ['!expiresAt || expiresAt.getTime() > now', '!expiresAt || expiresAt.getTime() > 0'],
      ['kept.length < mostSecrets', 'kept.length <= mostSecrets'],
    ],
  ),
  ...inFile(
    'server/partners/keys/admin-keys.ts',
    ['operations/audit-changes', 'partners/partners'],
    [
      ['before: { last4: current.last4 }', 'before: { last4: stored.last4 }'],
      ['        assertActive(current);\n', ''],
    ],
  ),
  ...inFile(
    'server/api/integrations/storefront/caller.ts',
    ['api/storefront/exchange', 'contract/section-5'],
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
    'server/api/integrations/storefront/request-signature.ts',
    ['api/storefront/exchange', 'contract/section-5'],
    [
      ['.update(raw);', '.update(String(raw.length));'],
      [
        "const mac = createHmac('sha256', secret)",
        "timestamp = '';\n  const mac = createHmac('sha256', secret)",
      ],
    ],
  ),
  ...inFile(
    'server/api/verify/hvf-session.ts',
    ['api/oauth/again', 'sessions/session-query', 'contract/section-8'],
    [
      ["key?.status !== 'active'", '!key'],
      ["if (session.keyId !== key._id) throw new ApiError('foreign_session');", ''],
      ['clock.now() >= session.expiresAt.getTime()', 'clock.now() > session.expiresAt.getTime()'],
      ['const queriesPerMinute = 60;', 'const queriesPerMinute = 61;'],
      [', { acceptCached: isActive }', ''],
    ],
  ),
  ...inFile(
    'server/operations/operators/authentication.ts',
    ['isolation/addresses', 'operations/operators'],
    [
      ['const wrongTokensPerMinute = 10;', 'const wrongTokensPerMinute = 11;'],
      ['countFailure(subscriberOf(address));', "countFailure('all');"],
      ["if (operator?.status !== 'active') return undefined;", 'if (!operator) return undefined;'],
      ['expiresAt.getTime() <= clock.now()', 'expiresAt.getTime() < 0'],
    ],
  ),
];
