import type { Act, HolderName } from '../../identity-wallet/port.ts';

/** The texts that depend on a name. The page is for developers who test, so it is in English only. */
export const testWalletMessages = {
  people: {
    adult: 'Adult, born in 1990',
    'young-adult': 'Young adult, 19',
    minor: 'Minor, 14',
  } satisfies Record<HolderName, string>,
  acts: {
    expired: 'Expired attestation',
    'not-yet-valid': 'Not yet valid',
    'unknown-issuer': 'Unknown issuer',
    revoked: 'Revoked attestation',
    'wrong-nonce': 'Wrong nonce',
    'wrong-audience': 'Wrong audience',
    replay: 'Replay of another presentation',
    'too-much': 'More than was asked for',
  } satisfies Record<Exclude<Act, 'present' | 'refuse'>, string>,
  /** Why a request cannot be answered. `closed`: it was answered or has expired. `foreign`: of another service. */
  faults: {
    closed: 'The request is no longer open.',
    foreign: 'The test identity wallet answers requests of this service only.',
    unreadable: 'This is not a request to an identity wallet.',
  },
};
