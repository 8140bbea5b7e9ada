import { createPublicKey } from 'node:crypto';
import { expect, it } from 'vitest';
import { coseKeyOf } from '../../server/identity-wallet/formats/cbor.ts';
import { verifySigned } from '../../server/identity-wallet/formats/sd-jwt.ts';
import { issueSdJwt, signJwt } from '../../server/identity-wallet/test-wallet/attestations.ts';
import { ageSettings, createCheck, expectation, handover, issuer, now, refusalOf } from './attested.ts';
import { handMade } from './hand-made.ts';
import { presentSdJwt } from './library-holder.ts';

const day = 86_400_000;
const { signer, holderKey } = issuer;

/** Verifies a credential without claims whose holder's key has these members. */
async function checkJwk(members: object) {
  const validity = { signed: now - day, validFrom: now - day, validUntil: now + day };
  const plain = issueSdJwt({ type: 'urn:eudi:pid:1', claims: {}, signer, holderKey, ...validity });
  const [, payload = ''] = plain.split('.');
  const read = JSON.parse(Buffer.from(payload, 'base64url').toString());
  read.cnf.jwk = { ...read.cnf.jwk, ...members };
  const credential = `${signJwt(signer.key, { typ: 'dc+sd-jwt' }, read)}~`;
  const presentation = await presentSdJwt({
    credential,
    claims: {},
    key: holderKey,
    paths: [],
    handover,
    now,
  });
  const { clientId: audience, nonce } = handover;
  const expected = { types: ['urn:eudi:pid:1'], audience, nonce, now };
  return verifySigned(presentation, createPublicKey(signer.key), expected);
}

it.each([
  [true, {}],
  [true, { use: 'sig', alg: 'ES256', key_ops: ['verify'] }],
  [false, { use: 'enc' }],
  [false, { alg: 'ECDH-ES' }],
  [false, { alg: 'ES384' }],
  [false, { key_ops: ['deriveKey'] }],
  [false, { key_ops: [] }],
  [false, { key_ops: 'verify' }],
])('an SD-JWT VC is accepted (%s) if the JWK of its holder has %j', async (isAccepted, members) => {
  if (isAccepted) await checkJwk(members);
  else expect(await refusalOf(checkJwk(members))).toBe('malformed');
});

const check = createCheck();
function checkCose(members: [number, unknown][]) {
  const deviceKey = new Map([...coseKeyOf(holderKey), ...members]);
  const proof = handMade({ mso: { deviceKeyInfo: { deviceKey } } });
  return check({ proof_of_age: [proof] }, expectation(ageSettings, ['age_18_plus']));
}

it.each<[boolean, [number, unknown][]]>([
  [true, [[3, -7]]],
  [true, [[3, -9]]],
  [true, [[4, [2]]]],
  [true, [[4, [1, 'verify']]]],
  [false, [[3, -35]]],
  [false, [[3, 5]]],
  [false, [[4, [7]]]],
  [false, [[4, []]]],
  [false, [[4, 2]]],
])('an mdoc is accepted (%s) if the COSE_Key of its device has %j', async (isAccepted, members) => {
  if (isAccepted) await checkCose(members);
  else expect(await refusalOf(checkCose(members))).toBe('malformed');
});
