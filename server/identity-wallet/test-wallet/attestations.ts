import { createHash, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { encode, Tagged } from 'cborg';
import { cborTag, coseKeyOf, type Signer, signEs256, signSign1 } from '../formats/cbor.ts';

/** The content of an attestation that all formats have. Times in milliseconds since the epoch. */
interface Content {
  signer: Signer;
  holderKey: KeyObject;
  signed: number;
  validFrom: number;
  validUntil: number;
  /** The status reference, in the form of the attestation. */
  status?: Readonly<Record<string, unknown>> | undefined;
}

export interface MdocContent extends Content {
  docType: string;
  /** The namespace of the elements. The default is the document type. */
  namespace?: string;
  elements: Readonly<Record<string, unknown>>;
}

export interface SdJwtContent extends Content {
  type: string;
  /** The claims. Each can be disclosed separately, also inside objects and lists. */
  claims: Readonly<Record<string, unknown>>;
}

const embedded = (value: unknown) => new Tagged(cborTag.embedded, encode(value));
/** Returns a time as a text date without fractions of a second (ISO/IEC 18013-5, 9.1.2.4). */
const textDate = (time: number) =>
  new Tagged(cborTag.textDate, `${new Date(time).toISOString().slice(0, 19)}Z`);

/** Issues an attestation as an ISO mdoc. Returns the encoded `IssuerSigned`. */
export function issueMdoc(content: MdocContent): Uint8Array {
  const { docType, namespace = docType, elements, signer, holderKey, status } = content;
  const items = Object.entries(elements).map(([elementIdentifier, elementValue], digestID) =>
    embedded({ digestID, random: randomBytes(32), elementIdentifier, elementValue }),
  );
  const digests = new Map(items.map((item, id) => [id, createHash('sha256').update(encode(item)).digest()]));
  const payload = encode(
    embedded({
      version: '1.0',
      digestAlgorithm: 'SHA-256',
      valueDigests: { [namespace]: digests },
      deviceKeyInfo: { deviceKey: coseKeyOf(holderKey) },
      docType,
      validityInfo: {
        signed: textDate(content.signed),
        validFrom: textDate(content.validFrom),
        validUntil: textDate(content.validUntil),
      },
      ...(status ? { status } : {}),
    }),
  );
  return encode({ nameSpaces: { [namespace]: items }, issuerAuth: signSign1(signer, payload, false) });
}

/** A disclosure: a salt, the name of a member, and its value (RFC 9901 4.2). Elements of lists have no name. */
function disclose(...parts: unknown[]): { disclosure: string; digest: string } {
  const salted = [randomBytes(16).toString('base64url'), ...parts];
  const disclosure = Buffer.from(JSON.stringify(salted)).toString('base64url');
  return { disclosure, digest: createHash('sha256').update(disclosure).digest('base64url') };
}

/**
 * Replaces every claim by the digest of a disclosure, also inside objects and lists.
 * @param disclosures gets the disclosures
 */
function hideEach(value: unknown, disclosures: string[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const hide = (member: unknown, ...name: string[]): string => {
    const { disclosure, digest } = disclose(...name, hideEach(member, disclosures));
    disclosures.push(disclosure);
    return digest;
  };
  if (Array.isArray(value)) return value.map((element) => ({ '...': hide(element) }));
  const digests = Object.entries(value).map(([name, member]) => hide(member, name));
  return { _sd: digests.toSorted() };
}

export const x5cOf = ({ certificates }: Signer): string[] =>
  certificates.map((der) => Buffer.from(der).toString('base64'));

/** Signs a JWT. @returns its compact form */
export function signJwt(key: KeyObject, header: Readonly<Record<string, unknown>>, payload: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'ES256', ...header })}.${part(payload)}`;
  return `${signed}.${signEs256(key, Buffer.from(signed)).toString('base64url')}`;
}

/** Issues an attestation as an SD-JWT VC (RFC 9901), with all of its disclosures. */
export function issueSdJwt(content: SdJwtContent): string {
  const { type, claims, signer, holderKey, status } = content;
  const { kty, crv, x, y } = createPublicKey(holderKey).export({ format: 'jwk' });
  const secondsOf = (time: number) => Math.floor(time / 1000);
  const disclosures: string[] = [];
  const payload = {
    vct: type,
    iss: 'https://issuer.test.invalid',
    iat: secondsOf(content.signed),
    nbf: secondsOf(content.validFrom),
    exp: secondsOf(content.validUntil),
    cnf: { jwk: { kty, crv, x, y } },
    ...(status ? { status } : {}),
    _sd_alg: 'sha-256',
    ...(hideEach(claims, disclosures) as object),
  };
  const jwt = signJwt(signer.key, { typ: 'dc+sd-jwt', x5c: x5cOf(signer) }, payload);
  return [jwt, ...disclosures, ''].join('~');
}
