import { createHash } from 'node:crypto';
import { decode, encode, Tagged } from 'cborg';
import { coseKeyOf, type Signer, signEs256 } from '../../server/identity-wallet/formats/cbor.ts';
import { transcriptOf } from '../../server/identity-wallet/formats/transcript.ts';
import { handover, issuer, now } from './attested.ts';

const day = 86_400_000;
/** Keys keep the given order, because the library warns about sorting some keys of these tests. */
const embedded = (value: unknown) => new Tagged(24, encode(value, { mapSorter: () => 0 }));
const textDate = (time: number) => new Tagged(0, `${new Date(time).toISOString().slice(0, 19)}Z`);
const headers = encode(new Map([[1, -7]]));

export interface Item {
  digestID: number;
  elementIdentifier: string;
  elementValue: unknown;
}

const item = (digestID: number, elementIdentifier: string): Item => ({
  digestID,
  elementIdentifier,
  elementValue: true,
});
export const adultItem = item(0, 'age_over_18');

interface Parts {
  /** The outer document type, which the wallet states. */
  outerDocType?: string;
  /** The document type that the device signed. */
  signedDocType?: string;
  /** Members of the mobile security object, which the issuer signs. */
  mso?: Record<string, unknown>;
  /** The time of signing, in milliseconds since the epoch. */
  signed?: number;
  signer?: Signer;
  items?: readonly Item[];
  /** Digests in the security object; by default those of the items. */
  digests?: (own: Map<number, Uint8Array>) => Map<unknown, Uint8Array>;
  /** Members of the document and the response. */
  document?: Record<string, unknown>;
  response?: Record<string, unknown>;
  deviceNameSpaces?: Record<string, unknown>;
}

export const docType = 'eu.europa.ec.av.1';

/** Makes a device response with valid signatures. Most of its faults are impossible with a library. */
export function handMade(parts: Parts = {}): string {
  const { outerDocType = docType, signedDocType = docType, signed = now - day } = parts;
  const { signer = issuer.signer, items = [adultItem], digests = (own) => own } = parts;
  const packed = items.map((each) => embedded({ random: new Uint8Array(32), ...each }));
  const own = new Map(
    packed.map((each, at) => [
      items[at]?.digestID ?? at,
      new Uint8Array(createHash('sha256').update(encode(each)).digest()),
    ]),
  );
  const payload = encode(
    embedded({
      version: '1.0',
      digestAlgorithm: 'SHA-256',
      valueDigests: { [docType]: digests(own) },
      deviceKeyInfo: { deviceKey: coseKeyOf(issuer.holderKey) },
      docType,
      validityInfo: {
        signed: textDate(signed),
        validFrom: textDate(now - day),
        validUntil: textDate(now + day),
      },
      ...parts.mso,
    }),
  );
  const sign = (key: Signer['key'], signedPayload: Uint8Array) =>
    signEs256(key, encode(['Signature1', headers, new Uint8Array(), signedPayload]));
  const [certificate] = signer.certificates;
  const issuerAuth = [headers, new Map([[33, certificate]]), payload, sign(signer.key, payload)];
  const nameSpaces = embedded(parts.deviceNameSpaces ?? {});
  const transcript: unknown = decode(transcriptOf(handover));
  const authentication = encode(embedded(['DeviceAuthentication', transcript, signedDocType, nameSpaces]));
  const deviceSignature = [headers, new Map(), null, sign(issuer.holderKey, authentication)];
  const document = {
    docType: outerDocType,
    issuerSigned: { nameSpaces: { [docType]: packed }, issuerAuth },
    deviceSigned: { nameSpaces, deviceAuth: { deviceSignature } },
    ...parts.document,
  };
  const response = { version: '1.0', documents: [document], status: 0, ...parts.response };
  return Buffer.from(encode(response)).toString('base64url');
}
