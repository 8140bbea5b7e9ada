import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { demand, PresentationRefused } from '../refused.ts';
import { type Certificate, validatePath } from '../trust/certificates.ts';
import type { StatusReference } from '../trust/status-list.ts';
import { hasBegun, isOver } from '../trust/validity.ts';
import { applyDisclosures } from './disclosures.ts';
import { certificatesOfJwt, readJwt } from './jwt.ts';

/** The requirements that an SD-JWT VC must meet. It is a credential as a JWT, whose claims can be disclosed one by one. */
export interface SdJwtExpectation {
  types: readonly string[];
  anchors: readonly Certificate[];
  audience: string;
  nonce: string;
  now: number;
}

export interface VerifiedSdJwt {
  claims: Readonly<Record<string, unknown>>;
  /** Paths of the disclosed values. */
  disclosed: readonly (readonly (string | number)[])[];
  statuses: readonly StatusReference[];
  issuer: Certificate;
}

/** How long the holder's proof is accepted after the holder signed it, in milliseconds. */
const freshnessMs = 600_000;

const seconds = z.number().finite().nonnegative();
/** The claims that limit the validity of a JWT (RFC 7519 4.1.4, 4.1.5). */
const validity = { exp: seconds.optional(), nbf: seconds.optional() };
/** The holder's key. A key for another use, algorithm or operation must not verify a signature (RFC 7517 4.2 to 4.4). */
const HolderKey = z.looseObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  use: z.literal('sig').optional(),
  alg: z.literal('ES256').optional(),
  key_ops: z
    .array(z.string())
    .refine((operations) => operations.includes('verify'))
    .optional(),
});
const Payload = z.looseObject({
  ...validity,
  vct: z.string(),
  iat: seconds.optional(),
  cnf: z.looseObject({ jwk: HolderKey }),
  status: z.looseObject({}).optional(),
});
const Status = z.object({
  status_list: z.object({ idx: z.number().int().nonnegative(), uri: z.string().max(2048) }),
});
const KeyBinding = z.looseObject({
  ...validity,
  aud: z.string(),
  nonce: z.string(),
  iat: seconds,
  sd_hash: z.string(),
});

function parsed<T extends z.ZodType>(schema: T, value: unknown, what: string): z.infer<T> {
  const result = schema.safeParse(value);
  demand(result.success, 'malformed', what);
  return result.data;
}

/**
 * Verifies the holder's proof: a JWT by which the holder signs our audience and nonce with the key that the issuer attested.
 * @param jwk the attested key
 * @param signedOver the credential with its disclosures, whose digest the proof must contain
 */
async function checkKeyBinding(
  jwt: string,
  jwk: JsonWebKey,
  signedOver: string,
  expected: Omit<SdJwtExpectation, 'anchors'>,
) {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new PresentationRefused('malformed', 'holder key');
  }
  const payload = await readJwt(jwt, { type: 'kb+jwt', key, refusal: 'holder proof wrong' });
  const { aud, nonce, iat, exp, nbf, sd_hash: hash } = parsed(KeyBinding, payload, 'key binding');
  demand(nonce === expected.nonce, 'wrong nonce');
  demand(aud === expected.audience, 'wrong audience');
  const { now } = expected;
  demand(exp === undefined || !isOver(exp * 1000, now), 'holder proof wrong', 'expired');
  demand(nbf === undefined || hasBegun(nbf * 1000, now), 'holder proof wrong', 'not yet valid');
  const isFresh = hasBegun(iat * 1000, now) && !isOver(iat * 1000 + freshnessMs, now);
  demand(isFresh, 'holder proof wrong', 'too old or from the future');
  const digest = createHash('sha256').update(signedOver).digest('base64url');
  demand(hash === digest, 'holder proof wrong', 'wrong digest');
}

function checkValidity({ exp, nbf, iat }: z.infer<typeof Payload>, now: number): void {
  demand(exp === undefined || !isOver(exp * 1000, now), 'attestation expired');
  demand(nbf === undefined || hasBegun(nbf * 1000, now), 'attestation not yet valid');
  demand(iat === undefined || hasBegun(iat * 1000, now), 'attestation not yet valid');
}

/** Returns the reference to the status. A status by another mechanism cannot be looked up, so it must not count as valid. */
function statusesOf({ status }: z.infer<typeof Payload>): StatusReference[] {
  if (!status) return [];
  const { success, data } = Status.safeParse(status);
  demand(success, 'status unknown', 'no status list');
  const { idx: index, uri } = data.status_list;
  return [{ kind: 'index', index, uri }];
}

/**
 * Verifies an SD-JWT VC with key binding (RFC 9901 7.3; SD-JWT VC 3.4): signature, type, validity, disclosures, and the
 * holder's proof over this request.
 * @param key the public key of the issuer
 * @throws PresentationRefused
 */
export async function verifySigned(
  presentation: string,
  key: KeyObject,
  expected: Omit<SdJwtExpectation, 'anchors'>,
): Promise<Omit<VerifiedSdJwt, 'issuer'>> {
  // The parts are the JWT of the issuer, any number of disclosures, and the holder's proof.
  const [issued = '', ...disclosures] = presentation.split('~');
  const holderProof = disclosures.pop();
  demand(holderProof, 'holder proof wrong', 'no key binding');
  const signed = await readJwt(issued, { type: 'dc+sd-jwt', key, refusal: 'issuer signature wrong' });
  const payload = parsed(Payload, signed, 'claims');
  demand(expected.types.includes(payload.vct), 'wrong type');
  checkValidity(payload, expected.now);
  const { claims, disclosed } = applyDisclosures(payload, disclosures);
  const signedOver = `${[issued, ...disclosures].join('~')}~`;
  await checkKeyBinding(holderProof, payload.cnf.jwk, signedOver, expected);
  return { claims, disclosed, statuses: statusesOf(payload) };
}

/**
 * Verifies an SD-JWT VC whose issuer is known by a certificate path (HAIP 6.1.1).
 * @throws PresentationRefused
 */
export async function verifySdJwt(presentation: string, expected: SdJwtExpectation): Promise<VerifiedSdJwt> {
  const [issued = ''] = presentation.split('~');
  const issuer = validatePath(certificatesOfJwt(issued), expected);
  return { ...(await verifySigned(presentation, issuer.x509.publicKey, expected)), issuer };
}
