import { inFile } from './mutation.ts';

/** Mutations of what support does for partners and users, and of what members do alone in the portal. */
export const support = [
  ...inFile(
    'server/webhooks/operators/endpoints/required-endpoint.ts',
    ['webhooks/operators/other-url'],
    [['if (!isOtherHost(to, endpoint)) continue;', 'if (!isOtherHost(to, endpoint) || to) continue;']],
  ),
  ...inFile(
    'server/webhooks/delivery/attempt.ts',
    ['webhooks/operators/other-url'],
    [["if (leased.to !== undefined && isOtherHost(url, endpoint)) return skip(leased, 'other_host');", '']],
  ),
  ...inFile(
    'server/partners/admin-partners.ts',
    ['partners/partners', 'cli/commands/close', 'operations/permissions'],
    [
      [
        'if (status === to && (!isClosing || closedAt)) return undefined;',
        'if (status === to) return undefined;',
      ],
      ["(status === 'pending' || closedAt) && !mayBegin", "status === 'pending' && !mayBegin"],
      ['closedAt: isClosing ? new Date(now) : undefined }', 'closedAt: new Date(now) }'],
    ],
  ),
  ...inFile(
    'server/people/users/user-store.ts',
    ['people/holds'],
    [
      ['{ keptSince: { $lte: before }, ...notHeld(now) }', '{ keptSince: { $lte: before } }'],
      ['if (isHeld(user, at)) {', 'if (isHeld(user, at) && at.getTime() < 0) {'],
    ],
  ),
  ...inFile(
    'server/people/erasure/holds.ts',
    ['people/holds'],
    [
      ['if (user.hold) await move(user, { to: user.hold.until });', ''],
      ['await move(user, { from: hold.until, to: soon });', ''],
      [
        'const stores = [users, enrollments, passkeyStore, sessions];',
        'const stores = [users, enrollments, sessions];',
      ],
    ],
  ),
  ...inFile(
    'server/partners/members/passkey-changes.ts',
    ['console/portal/passkeys'],
    [
      ["if (rest.length === 0) throw refused('It is your only passkey: add another one first');", ''],
      ['await memberSessions.endOthersThan(kept, member._id);', ''],
    ],
  ),
  ...inFile(
    'server/console/portal/sign-in.ts',
    ['console/portal/passkeys'],
    [
      ['sha256(secret), member.revision]', 'sha256(secret)]'],
      [
        "if (!isFresh) throw new ApiError('passkey_required');\n      await passkeys.remove",
        'await passkeys.remove',
      ],
    ],
  ),
  ...inFile(
    'server/console/portal/member-sessions.ts',
    ['console/portal/passkeys'],
    [['if (!hasPasskey(member, credentialId)) return false;', '']],
  ),
  ...inFile(
    'server/console/portal/views/find.ts',
    ['console/portal/place-of-id'],
    [["if (!plainId.test(id)) return { why: 'isNoId' };", '']],
  ),
  ...inFile(
    'server/console/portal/views/kit/mode-switch.ts',
    ['console/portal/modes'],
    [['to.includes(', '!to.includes(']],
  ),
];
