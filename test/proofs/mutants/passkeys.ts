import { inFile } from './mutation.ts';

const platform = 'server/platform/webauthn';
const webauthn = ['platform/webauthn/relying-party'];
const flow = ['people/passkeys/passkeys'];
const oneMove = ['people/passkeys/one-move'];
const data = ['pages/your-data/your-data'];
const stopping = ['pages/your-data/stop-sharing'];

/** Mutations of users' passkeys, and of the endings on the user data page. */
export const passkeys = [
  ...inFile(`${platform}/relying-party.ts`, webauthn, [
    ['requireUserVerification: true,', 'requireUserVerification: false,'],
    ['expectedOrigin: origin,', "expectedOrigin: [origin, 'https://evil.example'],"],
    ['expectedRPID: id,', "expectedRPID: [id, 'evil.example'],"],
    ['[-8, es256, -257]', '[-8, es256, -257, -258]'],
    [
      '          counter,\n          transports: transports',
      '          counter: 0,\n          transports: transports',
    ],
    ['if (answer.isEmbedded || !hasAcceptedFormat(answer)) return', 'if (!hasAcceptedFormat(answer)) return'],
    ['if (answer.isEmbedded || !hasAcceptedFormat(answer)) return', 'if (answer.isEmbedded) return'],
    ['if (answer.isEmbedded || answer', 'if (answer'],
    ["existing.map((credential) => ({ type: 'public-key', id: credential }))", '[]'],
  ]),
  ...inFile(`${platform}/challenges.ts`, webauthn, [
    ['isGenuine && age', 'age'],
    [' && age < challengeLifetimeMs', ''],
    ['age > -skewMs && ', ''],
  ]),
  ...inFile('server/pages/flow/session-passkeys.ts', flow, [
    ['    _id,\n    browserHash,\n    timeline.length,', '    timeline.length,'],
    ["if (!(await areAllowed(session))) throw new ApiError('passkey_refused');", ''],
    ["!session.userId || session.handoff?.state === 'confirmed'", '!session.userId'],
    ['passkeyMark === passkeys.markOf(session.userId) ||', ''],
    ['!user.duplicate && hasFreshClaims', 'hasFreshClaims'],
  ]),
  ...inFile('server/people/passkeys/passkeys.ts', flow, [
    ["if (mode && passkey.mode !== mode) throw refusal(ceremony, 'other_mode');", ''],
    ['if (!use || isOfOtherUser)', 'if (!use)'],
    ["if ((await store.ofUser(userId)).length >= mostPasskeys) throw refusal('save', 'refused');", ''],
    ["if (!isOwn) throw refusal('save', 'refused');", ''],
    ['existing.map(({ credentialId }) => credentialId)', '[]'],
    [
      "issuedAt === undefined) throw refusal(ceremony, 'refused');",
      "issuedAt === null) throw refusal(ceremony, 'refused');",
    ],
    ["if (!found) throw refusal(ceremony, 'unknown');", ''],
    ['if (mustBeStored && !(await stored)) throw', 'if (mustBeStored && !(await stored) && !use) throw'],
    ['if (others.length === found.length) throw noPasskeyError(userId, passkeyId);', ''],
    ['passkey.counter > 0 || use.counter > 0', 'use.counter < 0'],
  ]),
  ...inFile('server/pages/flow/passkey-forms.ts', flow, [
    [
      'const isCurrentForm = isCurrent && isAtStep && form.step === formVersionOf(session, step);',
      'const isCurrentForm = isCurrent;',
    ],
    ["if (isCurrentForm && !isTokenOf(secret, csrf)) throw new ApiError('cross_site_request');", ''],
  ]),
  ...inFile('server/pages/flow/submit.ts', flow, [
    ["form.passkey === 'can' && (await passkeys.areAllowed(session))", 'await passkeys.areAllowed(session)'],
  ]),
  ...inFile('server/people/passkeys/passkeys.ts', oneMove, [['stored.catch(() => undefined)', 'stored']]),
  ...inFile('server/people/passkeys/passkey-store.ts', flow, [
    ['{ _id, userId, counter, ...(needs', '{ _id, userId, ...(needs'],
  ]),
  ...inFile('server/people/passkeys/passkey-store.ts', data, [
    ['...(needsNewChallenge ? { answeredAt: { $lt: issuedAt } } : {})', ''],
  ]),
  ...inFile('server/pages/your-data/sign-in.ts', data, [
    ['sameText(hash, sha256(parsed.secret)) && ', ''],
    [
      "if (!(await store.signIn(passkey, signIn))) throw new ApiError('passkey_unknown');",
      'await store.signIn(passkey, signIn);',
    ],
    ["['your data', sha256(nonce)]", "['your data']"],
    [' && leftMs > 0', ''],
    ['if (parsed) await store.signOut(parsed.passkeyId, sha256(parsed.secret));', ''],
  ]),
  ...inFile('server/pages/your-data/routes.ts', data, [
    ["await limit('sign-in', subscriberOf(request.ip), signInLimit);", ''],
  ]),
  ...inFile('server/platform/http/browser/csrf.ts', data, [
    ['!isOwnOrigin(headers, origin) || typeof token', 'typeof token'],
    [" || typeof token !== 'string' || !isTokenOf(secret, token)", ''],
  ]),
  ...inFile('server/people/enrollments/grants.ts', stopping, [
    ["enrollment.status === 'active' && isWithdrawn", 'isWithdrawn'],
  ]),
  ...inFile('server/api/oauth/token.ts', stopping, [
    ["grant.enrollment.status === 'withdrawn'", 'grant === undefined'],
  ]),
  ...inFile('server/pages/flow/complete.ts', oneMove, [
    [
      'complete(verified, snapshot, undefined)',
      'complete(verified, snapshot, codeSnapshotOf(snapshot, verified))',
    ],
    ["if ((await detour(session, 'issue')) !== undefined)", 'if (snapshot === undefined)'],
  ]),
  ...inFile('server/pages/flow/passkey-forms.ts', oneMove, [
    ['= outlastsCode ?', '= skipsVerification ?'],
    ['isNew: moved?.code !== undefined', 'isNew: false'],
  ]),
  ...inFile('server/pages/flow/complete.ts', stopping, [
    ['if (snapshot.enrollment && isWithdrawn(snapshot.enrollment, session))', 'if (snapshot === undefined)'],
  ]),
  ...inFile('server/people/enrollments/enrollment-store.ts', stopping, [
    ['{ _id, withdrawnAt: { $not: { $gte: consentedAt } } }', '{ _id }'],
  ]),
  ...inFile('server/people/enrollments/enroll.ts', stopping, [
    ['const { consentedAt = session.createdAt } = session;', 'const consentedAt = new Date(8e15);'],
  ]),
  ...inFile('server/people/enrollments/snapshot-invalidation.ts', stopping, [
    ['await endAccesses({ _id, userId, withdrawnAt });', ''],
    ['if (isFirstLook) return;', ''],
  ]),
  ...inFile('server/people/erasure/withdrawal.ts', stopping, [
    ['.filter((enrollment) => enrollment.partnerId === partnerId)', ''],
    [' && isWithdrawn({ withdrawnAt }, session)', ''],
  ]),
];
