import {
  asArray,
  asBytes,
  asMap,
  asText,
  type CborMap,
  certificatesOf,
  checkSign1,
  dateOf,
  decodeCbor,
  onAnyCurve,
  parseSign1,
} from '../formats/cbor.ts';
import { demand } from '../refused.ts';
import { type Certificate, parseCertificate, validatePath } from './certificates.ts';
import { hasBegun } from './validity.ts';

/** The extended key usage of a certificate that may sign a VICAL, a list of issuing authorities (ISO/IEC 18013-5, C.1.7). */
const vicalSigner = '1.0.18013.5.1.8';

/** The most certificates in a list. There are fewer authorities in the world. */
const mostCertificates = 2_000;

interface Expected {
  /** Certificate authorities of the list's provider. */
  providers: readonly Certificate[];
  /** Only authorities that issue this type of document are read. */
  docType: string;
  now: number;
}

/** A verified list of issuing authorities. Times in milliseconds since the epoch. */
export interface Vical {
  authorities: readonly Certificate[];
  /** When the provider publishes the next list. Undefined if the list does not say. */
  nextUpdate: number | undefined;
}

/**
 * Returns an authority of the list; undefined if it issues no documents of this type. A certificate that cannot be parsed is left
 * out too, so that the other authorities can be used.
 */
function authorityIn(info: unknown, docType: string): Certificate | undefined {
  const entry = asMap(info, 'certificate info');
  const docTypes = asArray(entry.get('docType'), 'docType');
  const der = asBytes(entry.get('certificate'), 'certificate');
  if (!docTypes.includes(docType)) return undefined;
  try {
    return parseCertificate(der);
  } catch {
    return undefined;
  }
}

/** Verifies the signature of a list and returns the list. Its signer needs the key usage for content commitment. */
function contentOf(bytes: Uint8Array, { providers, now }: Expected): CborMap {
  const sign1 = parseSign1(decodeCbor(bytes), 'VICAL');
  const signer = validatePath(certificatesOf(sign1), {
    anchors: providers,
    purposes: [vicalSigner],
    usage: 'commits',
    now,
  });
  const key = signer.x509.publicKey;
  const payload = asBytes(sign1.payload, 'VICAL');
  checkSign1(sign1, { key, payload, algorithms: onAnyCurve, refusal: 'issuer signature wrong' });
  return asMap(decodeCbor(payload), 'VICAL');
}

/**
 * Verifies a list of issuer certificate authorities, and returns the authorities (ISO/IEC 18013-5, annex C).
 * @throws PresentationRefused if the list is not signed by one of these providers, or is malformed
 */
export function readVical(bytes: Uint8Array, expected: Expected): Vical {
  const content = contentOf(bytes, expected);
  demand(/^1\.\d+$/.test(asText(content.get('version'), 'version')), 'malformed', 'version');
  demand(hasBegun(dateOf(content.get('date'), 'date'), expected.now), 'attestation not yet valid');
  const infos = asArray(content.get('certificateInfos'), 'certificate infos');
  demand(infos.length <= mostCertificates, 'malformed', 'too many certificates');
  const next = content.get('nextUpdate');
  return {
    authorities: infos.flatMap((info) => authorityIn(info, expected.docType) ?? []),
    nextUpdate: next === undefined ? undefined : dateOf(next, 'nextUpdate'),
  };
}
