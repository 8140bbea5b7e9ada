import { inFile } from './mutation.ts';

/** Mutations of the separation of test from live mode, and of partners from each other. */
export const liveMode = [
  ...inFile(
    'server/billing/charge.ts',
    ['billing/charge', 'live/live'],
    [
      [
        'const key = { walletId: walletIdOf(partnerId, mode)',
        "const key = { walletId: walletIdOf(partnerId, mode && 'test')",
      ],
      [
        '          walletId: walletIdOf(partnerId, mode),',
        "          walletId: walletIdOf(partnerId, mode && 'test'),",
      ],
      [
        'const walletId = walletIdOf(partnerId, mode);',
        "const walletId = walletIdOf(partnerId, mode && 'test');",
      ],
    ],
  ),
  ...inFile(
    'server/sessions/sources/sandbox.ts',
    ['live/live'],
    [["modes: ['test'] } as const", "modes: ['test', 'live'] } as const"]],
  ),
  ...inFile(
    'server/pages/flow/start-checks.ts',
    ['pages/flow/start-checks', 'pages/flow/start', 'live/live'],
    [['installed.get(name)?.modes.includes(mode)', 'installed.has(name)']],
  ),
  ...inFile(
    'server/api/verify/hvf-session.ts',
    ['live/live'],
    [["isTestMode: session.mode === 'test'", 'isTestMode: true']],
  ),
  ...inFile(
    'server/people/enrollments/enroll.ts',
    ['live/live', 'isolation/two-of-everything'],
    [
      ["['identity', mode, source, subject]", "['identity', 'test', source, subject]"],
      ["[mode, partnerId, userId].join('|')", "[mode, userId].join('|')"],
      ['[clientId, userId]', '[userId]'],
    ],
  ),
  ...inFile(
    'server/partners/clients/admin-clients.ts',
    ['live/live'],
    [['sources.filter(({ modes }) => modes.includes(mode))', 'sources.filter(() => true)']],
  ),
  ...inFile(
    'server/webhooks/egress/destination.ts',
    ['webhooks/egress/destination', 'live/live'],
    [
      ["if (mode === 'live') return 'a live key needs an https:// URL';", ''],
      ['if (isIP(host)) return isPublicAddress(host) ? undefined', 'if (isIP(host)) return host ? undefined'],
    ],
  ),
  ...inFile(
    'server/webhooks/delivery/endpoint.ts',
    ['process/webhook-endpoint'],
    [
      ['mode: key.mode, noteUse }', "mode: 'test', noteUse }"],
      ["status === 'suspended' || status === 'closed'", "status !== 'active'"],
      ['partner(id, { fresh: true })', 'partner(id, { fresh: false })'],
      ["if (key?.status !== 'active') return", 'if (!key) return'],
    ],
  ),
  ...inFile(
    'server/partners/integrations/customer-hash.ts',
    ['isolation/two-of-everything'],
    [["['customer', clientId, shop, customerId]", "['customer', shop, customerId]"]],
  ),
  ...inFile(
    'server/api/checkbox/resolve.ts',
    ['isolation/two-of-everything', 'api/checkbox/resolve'],
    [
      ['if (enrollment?.client.keyId !== key._id) throw', 'if (!enrollment) throw'],
      ['const permitted = client.claims.filter(', 'const permitted = consentedClaims.filter('],
    ],
  ),
];
