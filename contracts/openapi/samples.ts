/** The lengths of the random parts after the prefix: 128 bits of an identifier, 256 bits and a checksum of a secret. */
const idLength = 22;
const secretLength = 49;

/** Values for examples. The identifiers are well-formed, but do not exist. */
export const sample = {
  client: `cli_${'A'.repeat(idLength)}`,
  clientSecret: `svc_secret_${'B'.repeat(secretLength)}`,
  partner: `ptr_${'C'.repeat(idLength)}`,
  session: `ses_${'D'.repeat(idLength)}`,
  enrollment: `enr_${'E'.repeat(idLength)}`,
  event: `evt_${'F'.repeat(idLength)}`,
  code: `svc_code_${'G'.repeat(secretLength)}`,
  charge: `txn_${'H'.repeat(idLength)}`,
  integration: `int_${'I'.repeat(idLength)}`,
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
