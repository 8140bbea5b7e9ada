import type { Act, HolderName } from '../../identity-wallet/port.ts';

/** The texts of the page. It is for developers who test, so it is in English only. */
export const testWalletMessages = {
  title: 'Test identity wallet',
  mode: {
    title: 'Test mode',
    text: 'These people are made up. Their attestations count for test clients only.',
  },
  /** The title above the request. */
  ask: 'Show this?',
  /** The sentence about the request, in two parts. Between them stands the host that asks, in markup of its own. */
  asks: ['The request of', 'asks for one of these.'] as [beforeHost: string, afterHost: string],
  attestation: 'Attestation',
  /** In place of claims, if the request asks for none. */
  nothing: 'the attestation itself, without a claim',
  person: 'Person',
  people: {
    adult: 'Adult, born in 1990',
    'young-adult': 'Young adult, 19',
    minor: 'Minor, 14',
  } satisfies Record<HolderName, string>,
  present: 'Present',
  refuse: 'Refuse',
  bad: {
    title: 'Faulty presentations',
    text: 'Each of these has to be refused.',
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
  },
  fault: 'The test identity wallet cannot answer',
  /** Why a request cannot be answered. `closed`: it was answered or has expired. `foreign`: of another service. */
  faults: {
    closed: 'The request is no longer open.',
    foreign: 'The test identity wallet answers requests of this service only.',
    unreadable: 'This is not a request to an identity wallet.',
  },
};
