import { createHash } from 'node:crypto';
import { encode } from './cbor.ts';

const digest = (value: unknown) => createHash('sha256').update(encode(value)).digest();

/** The way a request reached the identity wallet. The holder's proof covers it. */
export type Handover =
  /** OpenID4VP 1.0, B.2.6.1: answered at a response URI. */
  | {
      kind: 'redirect';
      clientId: string;
      nonce: string;
      responseUri: string;
      /** RFC 7638 thumbprint of the key for the answer. Undefined if the answer is not encrypted. */
      thumbprint?: Uint8Array | undefined;
    }
  /** OpenID4VP 1.0, B.2.6.2: by the Digital Credentials API. */
  | { kind: 'dc-api'; origin: string; nonce: string; thumbprint?: Uint8Array | undefined }
  /** ISO/IEC 18013-7, Annex C: by the Digital Credentials API, without OpenID4VP. */
  | { kind: 'iso-dc-api'; origin: string; nonce: string; encryptionInfo: string };

function handoverOf(handover: Handover): [string, Uint8Array] {
  switch (handover.kind) {
    case 'redirect': {
      const { clientId, nonce, thumbprint = null, responseUri } = handover;
      return ['OpenID4VPHandover', digest([clientId, nonce, thumbprint, responseUri])];
    }
    case 'dc-api': {
      const { origin, nonce, thumbprint = null } = handover;
      return ['OpenID4VPDCAPIHandover', digest([origin, nonce, thumbprint])];
    }
    case 'iso-dc-api':
      return ['dcapi', digest([handover.encryptionInfo, handover.origin])];
  }
}

/** Returns the encoded session transcript (ISO/IEC 18013-5, 9.1.5.1). */
export const transcriptOf = (handover: Handover): Uint8Array => encode([null, null, handoverOf(handover)]);

/** Returns the audience of the holder's proof of an SD-JWT VC (OpenID4VP 1.0, B.3.6). */
export const audienceOf = (handover: Handover): string =>
  handover.kind === 'redirect' ? handover.clientId : `origin:${handover.origin}`;
