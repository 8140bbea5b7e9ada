import { Tagged } from 'cborg';
import { cborTag, embed, encode, joinAsArray, type Signer, signSign1 } from '../formats/cbor.ts';

interface AskedDocument {
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

/**
 * Encodes a device request for one document (ISO/IEC 18013-5, 8.3.2.1.2.1).
 * @param transcript the session transcript, which the reader signs together with the request (9.1.4)
 */
export function deviceRequestOf(
  document: AskedDocument,
  transcript: Uint8Array,
  reader: Signer | undefined,
): Uint8Array {
  const items = itemsRequestOf(document);
  const authentication = joinAsArray(encode('ReaderAuthentication'), transcript, embed(items));
  const readerAuth = reader && { readerAuth: signSign1(reader, embed(authentication), true) };
  return encode({
    version: '1.0',
    docRequests: [{ itemsRequest: new Tagged(cborTag.embedded, items), ...readerAuth }],
  });
}
