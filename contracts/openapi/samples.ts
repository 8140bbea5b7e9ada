/** Makes the random part of identifiers in examples. They are well-formed, but do not exist. */
const body = (letter: string, length = 22) => letter.repeat(length);

export const sample = {
  client: `cli_${body('A')}`,
  clientSecret: `svc_secret_${body('B', 49)}`,
  partner: `ptr_${body('C')}`,
  session: `ses_${body('D')}`,
  enrollment: `enr_${body('E')}`,
  event: `evt_${body('F')}`,
  code: `svc_code_${body('G', 49)}`,
  charge: `txn_${body('H')}`,
  integration: `int_${body('I')}`,
  sub: 'VZ5pVm1k2k0Yc0y8f1oTzvX2m1hN1hJ3pW0c9qYb7sE',
  redirectUri: 'https://shop.example/callback',
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJWWjVwVm0xayJ9.c2lnbmF0dXJl',
  at: '2026-07-12T14:03:11.482Z',
  expiresAt: '2026-07-12T14:33:11.482Z',
  claims: { age_18_plus: true, country: 'DE' },
  meta: {
    claims_requested: ['age_18_plus', 'country', 'shoe_size'],
    claims_resolved: ['age_18_plus', 'country'],
    claims_null: [],
    claims_ignored: ['shoe_size'],
  },
} as const;
