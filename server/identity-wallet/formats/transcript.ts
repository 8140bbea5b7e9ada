import { createHash } from 'node:crypto';
import { encode } from './cbor.ts';

const digest = (value: unknown) => createHash('sha256').update(encode(value)).digest();

interface AnswerKey {
  /** RFC 7638 thumbprint of the key for the answer. Undefined if the answer is not encrypted. */
  thumbprint?: Uint8Array | undefined;
}

/**
 * The handover (ISO/IEC 18013-5): how a request reached the identity wallet, and values that only this request has.
 * The holder's key signs the handover. The signature proves that the holder answered this request, and no other one.
 */
export type Handover =
  /** The request came by a link, and the identity wallet posts the answer to the response URI (OpenID4VP 1.0, B.2.6.1). */
  | ({ kind: 'redirect'; clientId: string; nonce: string; responseUri: string } & AnswerKey)
  /** The request and the answer go through the Digital Credentials API of the browser (OpenID4VP 1.0, B.2.6.2). */
  | ({ kind: 'dc-api'; origin: string; nonce: string } & AnswerKey)
  /**
   * They go through the Digital Credentials API too, but without OpenID4VP (ISO/IEC 18013-7, Annex C). `encryptionInfo` contains
   * the nonce.
   */
  | { kind: 'iso-dc-api'; origin: string; nonce: string; encryptionInfo: string };

/** Returns the handover in the form that is signed: its name, and the digest of its values. Null stands for no thumbprint. */
function signedFormOf(handover: Handover): [string, Uint8Array] {
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
export function transcriptOf(handover: Handover): Uint8Array {
  // Two devices that are near each other exchange these values. Over the internet there are none, so they are null.
  const [deviceEngagement, readerKey] = [null, null];
  return encode([deviceEngagement, readerKey, signedFormOf(handover)]);
}

/** Returns the audience that the holder's proof of an SD-JWT VC must name (OpenID4VP 1.0, B.3.6). */
export const audienceOf = (handover: Handover): string =>
  handover.kind === 'redirect' ? handover.clientId : `origin:${handover.origin}`;
