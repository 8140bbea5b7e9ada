import { deflateSync } from 'node:zlib';
import { encode, Tagged } from 'cborg';
import { CompactSign } from 'jose';
import { type Signer, signEs256 } from '../../server/identity-wallet/formats/cbor.ts';
import { statusListTypes } from '../../server/identity-wallet/trust/status-token.ts';
import { issuer, now, statusUri } from './attested.ts';

/** Four statuses of two bits: valid, revoked, suspended, valid. */
export const packed = deflateSync(Buffer.from([0b00100100]));
export const seconds = now / 1000;

interface Changes {
  claims?: object;
  header?: object;
  signer?: Signer;
}

/** Makes a status list as a JWT. A claim or header that is undefined is left out. */
export async function jwtList({ claims = {}, header = {}, signer = issuer.signer }: Changes = {}) {
  const x5c = signer.certificates.map((each) => Buffer.from(each).toString('base64'));
  const list = { bits: 2, lst: packed.toString('base64url') };
  const payload = { sub: statusUri, iat: seconds, ttl: 60, status_list: list, ...claims };
  const jwt = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256', typ: 'statuslist+jwt', x5c, ...header })
    .sign(signer.key);
  return { type: statusListTypes.jwt, body: Buffer.from(jwt) };
}

interface CwtChanges {
  type?: string;
  /** Claims by CBOR label; undefined omits one. */
  claims?: Record<number, unknown>;
  signer?: Signer;
}

function cwt(type: string, claims: Map<number, unknown>, { claims: changes = {}, ...rest }: CwtChanges) {
  const { signer = issuer.signer, type: said = type } = rest;
  for (const [label, value] of Object.entries(changes)) claims.set(Number(label), value);
  const kept = [...claims].filter(([, value]) => value !== undefined);
  // Keys keep the given order, because the library warns about sorting keys of other types.
  const payload = encode(new Map(kept), { mapSorter: () => 0 });
  const headers = encode(
    new Map<number, unknown>([
      [1, -7],
      [16, said],
    ]),
  );
  const signature = signEs256(signer.key, encode(['Signature1', headers, new Uint8Array(), payload]));
  const [certificate] = signer.certificates;
  return { type, body: encode(new Tagged(18, [headers, new Map([[33, certificate]]), payload, signature])) };
}

/** Makes a status list as a CWT. */
export function cwtList(changes: CwtChanges = {}) {
  const claims: [number, unknown][] = [
    [2, statusUri],
    [6, seconds],
    [65533, { bits: 2, lst: packed }],
  ];
  return cwt(statusListTypes.cwt, new Map(claims), changes);
}

export const listed = new Uint8Array([1, 2, 3, 4]);

/** Makes an identifier list (ISO/IEC 18013-5, 12.3.6.4) that contains only the identifier `listed`. */
export function identifierList(changes: CwtChanges = {}) {
  const claims: [number, unknown][] = [
    [2, statusUri],
    [4, seconds + 600],
    [6, seconds],
    [65530, { identifiers: new Map([[listed, {}]]) }],
  ];
  return cwt(statusListTypes.identifiers, new Map(claims), changes);
}
