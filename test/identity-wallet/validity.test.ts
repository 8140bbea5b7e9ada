import { Tagged } from 'cborg';
import { expect, it } from 'vitest';
import { issueSdJwt } from '../../server/identity-wallet/test-wallet/attestations.ts';
import { documentSigner, validatePath } from '../../server/identity-wallet/trust/certificates.ts';
import { createStatusLists } from '../../server/identity-wallet/trust/status-list.ts';
import {
  ageSettings,
  anchors,
  createCheck,
  expectation,
  handover,
  issuer,
  now,
  personSettings,
  personTokenWithProof,
  refusalOf,
  statusUri,
} from './attested.ts';
import { handMade } from './hand-made.ts';
import { presentSdJwt } from './library-holder.ts';
import { ownAnchors, ownSigner } from './own-issuer.ts';
import { cwtList, identifierList, jwtList, seconds } from './status-lists.ts';

const day = 86_400_000;
const check = createCheck();

async function checkPid(times: object) {
  const claims = { issuing_country: 'EU' };
  const holder = { holderKey: issuer.holderKey, signer: issuer.signer };
  const validity = { signed: now - day, validFrom: now - day, validUntil: now + day, ...times };
  const credential = issueSdJwt({ type: 'urn:eudi:pid:1', claims, ...holder, ...validity });
  const paths = [['issuing_country']];
  const pid = await presentSdJwt({ credential, claims, key: issuer.holderKey, paths, handover, now });
  return check({ pid_sd_jwt: [pid] }, expectation(personSettings, ['country']));
}

async function checkProof(times: object) {
  const token = await personTokenWithProof(times, [['age_equal_or_over', '18']]);
  return check(token, expectation(personSettings, ['age_18_plus']));
}

function checkMdoc(times: { validFrom?: number; validUntil?: number }) {
  const validity = { signed: now - day, validFrom: now - day, validUntil: now + day, ...times };
  const validityInfo = Object.fromEntries(
    Object.entries(validity).map(([name, time]) => [name, new Tagged(0, new Date(time).toISOString())]),
  );
  return check(
    { proof_of_age: [handMade({ mso: { validityInfo } })] },
    expectation(ageSettings, ['age_18_plus']),
  );
}

const checkSigner = async (times: object) =>
  validatePath(ownSigner(times).certificates, { anchors: ownAnchors, purposes: [documentSigner], now });

type Fetch = Parameters<typeof createStatusLists>[0];
const checkIndex = (fetch: Fetch) =>
  createStatusLists(fetch).check({ kind: 'index', index: 0, uri: statusUri }, { anchors, now });
const checkIdentifier = (fetch: Fetch) =>
  createStatusLists(fetch).check(
    { kind: 'identifier', identifier: new Uint8Array([1]), uri: statusUri },
    { anchors, now },
  );

/** How each check ends if the time differs by `off` seconds to the disadvantage of the user. */
const times: [time: string, refusal: string, ends: (off: number) => Promise<unknown>][] = [
  ['iat of a PID', 'attestation not yet valid', (off) => checkPid({ signed: now + off * 1000 })],
  ['nbf of a PID', 'attestation not yet valid', (off) => checkPid({ validFrom: now + off * 1000 })],
  ['exp of a PID', 'attestation expired', (off) => checkPid({ validUntil: now - off * 1000 })],
  ['iat of a holder proof', 'holder proof wrong', (off) => checkProof({ iat: seconds + off })],
  [
    'iat of a holder proof of 10 minutes ago',
    'holder proof wrong',
    (off) => checkProof({ iat: seconds - 600 - off }),
  ],
  ['nbf of a holder proof', 'holder proof wrong', (off) => checkProof({ nbf: seconds + off })],
  ['exp of a holder proof', 'holder proof wrong', (off) => checkProof({ exp: seconds - off })],
  ['validFrom of an mdoc', 'attestation not yet valid', (off) => checkMdoc({ validFrom: now + off * 1000 })],
  ['validUntil of an mdoc', 'attestation expired', (off) => checkMdoc({ validUntil: now - off * 1000 })],
  [
    'begin of a certificate',
    'issuer certificate unusable',
    (off) => checkSigner({ notBefore: now + off * 1000 }),
  ],
  [
    'end of a certificate',
    'issuer certificate unusable',
    (off) => checkSigner({ notAfter: now - off * 1000 }),
  ],
  [
    'iat of a status list',
    'status unknown',
    (off) => checkIndex(() => jwtList({ claims: { iat: seconds + off } })),
  ],
  [
    'nbf of a status list',
    'status unknown',
    (off) => checkIndex(() => jwtList({ claims: { nbf: seconds + off } })),
  ],
  [
    'exp of a status list',
    'status unknown',
    (off) => checkIndex(() => jwtList({ claims: { exp: seconds - off } })),
  ],
  [
    'exp of a status list in CBOR',
    'status unknown',
    (off) => checkIndex(async () => cwtList({ claims: { 4: seconds - off } })),
  ],
  [
    'exp of an identifier list',
    'status unknown',
    (off) => checkIdentifier(async () => identifierList({ claims: { 4: seconds - off } })),
  ],
];

it.each(times)(
  'the %s is accepted if it is 59 s off, and refused as "%s" if it is 61 s off',
  async (_time, refusal, ends) => {
    await ends(59);
    expect(await refusalOf(ends(61))).toBe(refusal);
  },
);
