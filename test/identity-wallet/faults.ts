/** The faults that the test identity wallet can present, in words for test titles. */
export const faultsInWords = {
  expired: 'an expired attestation',
  'not-yet-valid': 'an attestation that is not valid yet',
  'unknown-issuer': 'an attestation of an unknown issuer',
  revoked: 'a revoked attestation',
  'wrong-nonce': 'a proof for another nonce',
  'wrong-audience': 'a proof for another audience',
  replay: 'a replayed answer',
  'too-much': 'more elements than requested',
};
