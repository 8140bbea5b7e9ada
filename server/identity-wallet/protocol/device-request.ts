import { type KeyObject, sign } from 'node:crypto';
import { Tagged } from 'cborg';
import { cborTag, embed, encode, es256, headerLabels, joinAsArray, signedBytes } from '../formats/cbor.ts';

/** The relying party that sends a request, with its private key on P-256. */
export interface Reader {
  key: KeyObject;
  /** The certificates in DER: the reader's first, then the intermediate ones. */
  certificates: readonly Uint8Array[];
}

export interface AskedDocument {
  docType: string;
  elements: readonly (readonly [namespace: string, element: string])[];
}

/** Encodes the items request. Every element is marked as retained, because derived claims are stored (8.3.2.1.2.1). */
function itemsRequestOf({ docType, elements }: AskedDocument): Uint8Array {
  const nameSpaces: Record<string, Record<string, true>> = {};
  for (const [namespace, element] of elements) {
    nameSpaces[namespace] = { ...nameSpaces[namespace], [element]: true };
  }
  return encode({ docType, nameSpaces });
}

/** Returns ReaderAuth: a COSE_Sign1 whose payload is detached, so null is in its place (ISO/IEC 18013-5, 9.1.4). */
function readerAuthOf({ key, certificates }: Reader, transcript: Uint8Array, items: Uint8Array) {
  const authentication = joinAsArray(encode('ReaderAuthentication'), transcript, embed(items));
  const protectedHeaders = encode(new Map([[headerLabels.algorithm, es256]]));
  const signed = signedBytes(protectedHeaders, embed(authentication));
  const signature = sign('sha256', signed, { key, dsaEncoding: 'ieee-p1363' });
  // A single certificate is not in a list (RFC 9360 2).
  const chain = certificates.length === 1 ? certificates[0] : certificates;
  return [protectedHeaders, new Map([[headerLabels.certificates, chain]]), null, new Uint8Array(signature)];
}

/**
 * Encodes a device request for one document (ISO/IEC 18013-5, 8.3.2.1.2.1).
 * @param transcript the session transcript, which the reader signs together with the request
 */
export function deviceRequestOf(
  document: AskedDocument,
  transcript: Uint8Array,
  reader?: Reader,
): Uint8Array {
  const items = itemsRequestOf(document);
  const readerAuth = reader ? { readerAuth: readerAuthOf(reader, transcript, items) } : {};
  return encode({
    version: '1.0',
    docRequests: [{ itemsRequest: new Tagged(cborTag.embedded, items), ...readerAuth }],
  });
}
