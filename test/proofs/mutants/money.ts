import { inFile } from './mutation.ts';

/** Mutations of balances, spend caps, charges, manual entries and statements. */
export const money = [
  ...inFile(
    'server/billing/ledger/wallet-rules.ts',
    ['billing/wallet-rules'],
    [
      ['window.used >= limit', 'window.used > limit'],
      ['movement.amount < 0 && state.balance + movement.amount < 0', 'state.balance + movement.amount < -1'],
      ['balance: state.balance + movement.amount', 'balance: state.balance - movement.amount'],
      ['seq: state.seq + 1', 'seq: state.seq'],
      ['used: byMinute.used + 1', 'used: byMinute.used'],
      ['used: byHour.used + 1', 'used: byHour.used'],
      ['if (capped) return capped;', ''],
      ["if (counting === 'money') return moved;", ''],
      ['start > window.start.getTime()', 'start !== window.start.getTime()'],
      ['perMinute: 60, perHour: 1000', 'perMinute: 61, perHour: 1000'],
    ],
  ),
  ...inFile(
    'server/billing/ledger/page-builder.ts',
    ['billing/ledger-page', 'billing/exchange'],
    [
      ['Math.max(now, head.at.getTime())', 'now'],
      ['ids.has(posting.id) || ids.size === largestPage', 'ids.size === largestPage'],
      ['page.unpublished = true', ''],
      ['lifetimeSeconds * 1_000', 'lifetimeSeconds * 1_001'],
      ["previous: head?.digest ?? ''", "previous: ''"],
    ],
  ),
  ...inFile(
    'server/billing/ledger/ledger-page.ts',
    ['billing/ledger-page', 'billing/wallets/audit', 'billing/charge'],
    [
      ["kind === 'token' && grant?.returning === true", "kind === 'token'"],
      ['      entry.balanceAfter,\n', ''],
      ['[_id, walletId, n, version, attempt, at, previous]', '[_id, walletId, n, version, attempt, at]'],
    ],
  ),
  ...inFile(
    'server/billing/charge.ts',
    ['billing/charge', 'billing/exchange', 'api/oauth/token-code', 'api/oauth/revoke', 'api/oauth/token'],
    [
      ['kind, prices, standardPrice))', 'kind, prices, standardPrice) - 1)'],
      ['if (revoked || !access) return undefined;', 'if (!access) return undefined;'],
      ["if (rehearsal && mode === 'test') {", "if (rehearsal && mode === 'live') {"],
    ],
  ),
  ...inFile(
    'server/billing/manual-entries.ts',
    ['billing/manual-entries'],
    [
      ['if (moved.entry.amount === amount) return moved;', 'return moved;'],
      ['if (amount >= 0 || !isBillable(kind)) {', 'if (amount >= 0) {'],
      [
        "idByReference('funding', walletId, memo.reference)",
        "idByReference('funding', walletId, memo.reference + amount)",
      ],
      ['const id = refundIdOf(chargeId);', 'const id = refundIdOf(chargeId + Math.random());'],
      ["written.outcome !== 'written' && written.outcome !== 'used'", "written.outcome === 'capped'"],
    ],
  ),
  ...inFile(
    'server/billing/wallets/statement.ts',
    ['billing/wallets/statement'],
    [
      ['at >= time', 'at > time'],
      ['entry.seq > after', 'entry.seq >= after'],
      ['entry.seq <= last', 'entry.seq < last'],
      ['range.untilSeq ?? (range.to', '(range.to'],
    ],
  ),
  ...inFile(
    'server/billing/charge.ts',
    ['billing/exchange', 'partners/partners', 'api/oauth/token-clients', 'contract/people'],
    [['prices?.[kind] ?? standard', 'standard']],
  ),
  ...inFile(
    'server/billing/ledger/ledger-writer.ts',
    ['platform/untrusted-clock'],
    [
      [
        "    if (!clock.trusted()) throw unavailable(new Error('the clock of this process is not trusted'));\n",
        '',
      ],
    ],
  ),
  ...inFile(
    'server/billing/manual-entries.ts',
    ['billing/manual-entries'],
    [['const mostWallets = 1_000_000', 'const mostWallets = 1_000']],
  ),
  ...inFile(
    'server/billing/ledger/ledger-store.ts',
    ['billing/ledger-store', 'billing/manual-entries'],
    [
      [
        "updateMany(filterOfPages(pages), { $unset: { unpublished: '' } }",
        "updateMany({}, { $unset: { unpublished: '' } }",
      ],
      ['first < walletIds.length; first', 'first < 1; first'],
    ],
  ),
  ...inFile(
    'server/billing/ledger/heads.ts',
    ['billing/newer-build'],
    [['page.version > pageVersion', 'false']],
  ),
  ...inFile(
    'server/billing/revocation-store.ts',
    ['billing/access-removal'],
    [['31 * 86_400_000', '29 * 86_400_000']],
  ),
  ...inFile(
    'server/platform/keys/sealed-values.ts',
    ['platform/keys/sealed-values'],
    [['{ _id: document._id, [field]: sealed }', '{ _id: document._id }']],
  ),
  ...inFile(
    'server/billing/ledger/ledger-writer.ts',
    ['proofs/simulation/simulation'],
    [['posting.arrivedAt <= head.asOf', 'true']],
  ),
  ...inFile(
    'server/billing/ledger/heads.ts',
    ['proofs/simulation/simulation'],
    [['return this.set(page, asOf);', 'return this.set(page, uptime());']],
  ),
  ...inFile(
    'server/billing/ledger/page-insert.ts',
    ['billing/page-insert', 'proofs/simulation/simulation'],
    [
      [
        'isLastTry = uptime() >= resendUntil;',
        'isLastTry = uptime() >= resendUntil;\n      if (isLastTry) break;',
      ],
    ],
  ),
  ...inFile(
    'server/api/checkbox/resolve.ts',
    ['isolation/two-of-everything', 'api/checkbox/resolve'],
    [
      [
        "JSON.stringify(['checkbox', key._id, idempotencyKey])",
        "JSON.stringify(['checkbox', idempotencyKey])",
      ],
      ['JSON.stringify([request.enrollment_id, request.claims])', 'JSON.stringify([request.claims])'],
      ['if (earlierCharge) return storedAnswer(earlierCharge);', ''],
      ['access.expiresAt.getTime() > now', 'access.expiresAt.getTime() >= now'],
      ["if (enrollment.status !== 'active') throw new ApiError('access_denied');", ''],
    ],
  ),
  ...inFile(
    'server/api/integrations/storefront/verify/exchange.ts',
    ['api/storefront/exchange'],
    [
      ["if (grant.enrollment.status !== 'active') throw new ApiError('enrollment_blocked');", ''],
      ["if (!hasPositiveClaim(claims)) throw new ApiError('no_positive_claim');", ''],
      ['if (earlierCharge) return accessOfRepeatedRequest(earlierCharge, fingerprint);', ''],
      ['grant.expiresAt.getTime() <= clock.now()', 'grant.expiresAt.getTime() < clock.now()'],
      ['if (!integration.shops.includes(shop)) throw shopNotFound(request.shop_domain, integration);', ''],
    ],
  ),
];
