import { createHash } from 'node:crypto';
import { demand } from '../refused.ts';
import { type Certificate, validatePath } from '../trust/certificates.ts';
import type { StatusReference } from '../trust/status-list.ts';
import { hasBegun, isOver } from '../trust/validity.ts';
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
  embed,
  embedded,
  encode,
  joinAsArray,
  parseSign1,
  verifyingKeyOf,
} from './cbor.ts';

/** The requirements that an mdoc must meet. An mdoc is a credential in the format of ISO/IEC 18013-5. */
export interface MdocExpectation {
  docType: string;
  anchors: readonly Certificate[];
  /** The COSE algorithms that the issuer may sign with. The default is ES256. */
  algorithms?: readonly number[] | undefined;
  /** The document signer must have one of these extended key usages. */
  purposes: readonly string[];
  /** The encoded session transcript; see `transcriptOf`. */
  transcript: Uint8Array;
  now: number;
}

/** A verified mdoc. `elements` holds the values by namespace and element. */
export interface VerifiedMdoc {
  elements: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  statuses: readonly StatusReference[];
  issuer: Certificate;
}

const longestUri = 2048;

const digestAlgorithms = new Map<unknown, string>([
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
]);

/** Returns the only document of a device response (ISO/IEC 18013-5, 8.3.2.1.2.2). */
function documentOf(bytes: Uint8Array): CborMap {
  const response = asMap(decodeCbor(bytes), 'device response');
  demand(response.get('version') === '1.0' && response.get('status') === 0, 'malformed', 'device response');
  const [document, ...more] = asArray(response.get('documents'), 'documents');
  demand(more.length === 0 && !response.has('zkDocuments'), 'more than was asked for', 'documents');
  return asMap(document, 'document');
}

/** Reads the fields that both status mechanisms of ISO/IEC 18013-5, 12.3.6.2 have. */
function listOf(info: CborMap): Pick<StatusReference, 'uri' | 'certificate'> {
  const uri = asText(info.get('uri'), 'status list');
  const certificate = info.get('certificate');
  demand(uri.length <= longestUri, 'malformed', 'status list');
  return { uri, certificate: certificate === undefined ? undefined : asBytes(certificate, 'status list') };
}

/** Reads a reference by the number of the attestation in a list of statuses. */
function indexIn(info: CborMap): StatusReference {
  const index = info.get('idx');
  demand(Number.isSafeInteger(index) && Number(index) >= 0, 'malformed', 'status list');
  return { kind: 'index', index: Number(index), ...listOf(info) };
}

/** Reads a reference to a list of the identifiers of revoked attestations. */
function identifierIn(info: CborMap): StatusReference {
  return { kind: 'identifier', identifier: asBytes(info.get('id'), 'identifier'), ...listOf(info) };
}

/** Returns the references to the attestation's status, one for each mechanism that its issuer uses. */
function statusesOf(mso: CborMap): StatusReference[] {
  if (!mso.has('status')) return [];
  const status = asMap(mso.get('status'), 'status');
  const infoOf = (name: string) => (status.has(name) ? asMap(status.get(name), name) : undefined);
  const byIndex = infoOf('status_list');
  const byIdentifier = infoOf('identifier_list');
  // A status by an unknown mechanism cannot be looked up, so the attestation must not count as valid.
  demand(byIndex ?? byIdentifier, 'status unknown', 'no known mechanism');
  const references = byIndex ? [indexIn(byIndex)] : [];
  // The EU's reference issuer names a status list, and also an identifier in a non-standard form. The list is then enough.
  const isStandard = byIdentifier?.get('id') instanceof Uint8Array;
  if (byIdentifier && (isStandard || !byIndex)) references.push(identifierIn(byIdentifier));
  return references;
}

/** Checks the validity of an attestation, and that its signer's certificate was valid when it was signed. */
function checkValidity(mso: CborMap, now: number, signer: Certificate): void {
  const validity = asMap(mso.get('validityInfo'), 'validity');
  const timeOf = (name: string) => dateOf(validity.get(name), name);
  const signed = timeOf('signed');
  demand(hasBegun(timeOf('validFrom'), now), 'attestation not yet valid');
  demand(!isOver(timeOf('validUntil'), now), 'attestation expired');
  const wasSignerValid = signed >= signer.notBefore && signed <= signer.notAfter;
  demand(wasSignerValid, 'issuer certificate unusable', 'not valid when the attestation was signed');
}

/** Returns the elements of one namespace. Each is checked against the digest that the issuer signed. */
function elementsOf(items: unknown, digests: CborMap, algorithm: string): Map<string, unknown> {
  const elements = new Map<string, unknown>();
  for (const item of asArray(items, 'issuer-signed items')) {
    const bytes = embedded(item, 'issuer-signed item');
    const fields = asMap(decodeCbor(bytes), 'issuer-signed item');
    const digest = createHash(algorithm).update(embed(bytes)).digest();
    const expected = digests.get(fields.get('digestID'));
    demand(expected instanceof Uint8Array && digest.equals(expected), 'digest mismatch');
    const name = asText(fields.get('elementIdentifier'), 'element identifier');
    demand(!elements.has(name), 'malformed', 'element twice');
    elements.set(name, fields.get('elementValue'));
  }
  return elements;
}

/**
 * Verifies the data of the issuer. The issuer signs the mobile security object (`mso`), which has the digests of all elements.
 * @throws PresentationRefused
 */
export function verifyIssuerSigned(
  issuerSigned: CborMap,
  expected: Omit<MdocExpectation, 'transcript'>,
): VerifiedMdoc & { deviceKey: CborMap } {
  const { docType, anchors, purposes, algorithms, now } = expected;
  const issuerAuth = parseSign1(issuerSigned.get('issuerAuth'), 'issuer authentication');
  const issuer = validatePath(certificatesOf(issuerAuth), { anchors, purposes, now });
  const payload = asBytes(issuerAuth.payload, 'mobile security object');
  checkSign1(issuerAuth, {
    key: issuer.x509.publicKey,
    payload,
    algorithms,
    refusal: 'issuer signature wrong',
  });
  const mso = asMap(decodeCbor(embedded(decodeCbor(payload), 'mobile security object')), 'security object');
  demand(mso.get('version') === '1.0', 'malformed', 'mobile security object version');
  demand(mso.get('docType') === docType, 'wrong type');
  checkValidity(mso, now, issuer);
  const algorithm = digestAlgorithms.get(mso.get('digestAlgorithm'));
  demand(algorithm !== undefined, 'malformed', 'digest algorithm');
  const valueDigests = asMap(mso.get('valueDigests'), 'value digests');
  const elements = new Map<string, Map<string, unknown>>();
  for (const [namespace, items] of asMap(issuerSigned.get('nameSpaces') ?? new Map(), 'namespaces')) {
    const digests = asMap(valueDigests.get(namespace) ?? new Map(), 'value digests');
    elements.set(asText(namespace, 'namespace'), elementsOf(items, digests, algorithm));
  }
  const deviceKey = asMap(asMap(mso.get('deviceKeyInfo'), 'device key').get('deviceKey'), 'device key');
  return { elements, statuses: statusesOf(mso), issuer, deviceKey };
}

/**
 * Verifies a device response with one document (ISO/IEC 18013-5, 9.3.1): issuer, digests, validity, type and holder's proof.
 * The proof is a signature of the device over this request. A MAC is refused, because it is not meant for remote use.
 * @throws PresentationRefused
 */
export function verifyMdoc(bytes: Uint8Array, expected: MdocExpectation): VerifiedMdoc {
  const document = documentOf(bytes);
  demand(document.get('docType') === expected.docType, 'wrong type');
  demand(!document.has('errors'), 'less than was asked for', 'errors');
  const issuerSigned = asMap(document.get('issuerSigned'), 'issuer-signed data');
  const { deviceKey, ...verified } = verifyIssuerSigned(issuerSigned, expected);
  const deviceSigned = asMap(document.get('deviceSigned'), 'device-signed data');
  checkDeviceSignature(deviceSigned, deviceKey, expected);
  return verified;
}

/** Checks the holder's proof: the signature of the device over the transcript and the document type (9.1.3.4). */
function checkDeviceSignature(deviceSigned: CborMap, deviceKey: CborMap, expected: MdocExpectation): void {
  // Elements of the device itself are attested by no issuer, and none is asked for.
  const namespaces = embedded(deviceSigned.get('nameSpaces'), 'device namespaces');
  demand(asMap(decodeCbor(namespaces), 'device namespaces').size === 0, 'more than was asked for');
  const proof = asMap(deviceSigned.get('deviceAuth'), 'device authentication').get('deviceSignature');
  demand(proof !== undefined, 'holder proof wrong', 'no device signature');
  const signature = parseSign1(proof, 'device signature');
  demand(signature.payload === null, 'malformed', 'device signature');
  const authentication = joinAsArray(
    encode('DeviceAuthentication'),
    expected.transcript,
    encode(expected.docType),
    embed(namespaces),
  );
  checkSign1(signature, {
    key: verifyingKeyOf(deviceKey),
    payload: embed(authentication),
    refusal: 'holder proof wrong',
  });
}
