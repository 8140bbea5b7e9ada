import { z } from 'zod';
import { asArray, asMap, asText, decodeCbor, embedded, encode, publicKeyOf } from '../formats/cbor.ts';
import { transcriptOf } from '../formats/transcript.ts';
import { seal } from '../protocol/hpke.ts';
import type { AskedCredential } from './asked.ts';

const base64url = z.string().regex(/^[A-Za-z0-9_-]{1,8192}$/);

/** A request of a page by ISO/IEC TS 18013-7, annex C. */
export const AskedByAnnexC = z.object({ deviceRequest: base64url, encryptionInfo: base64url });
export type AskedByAnnexC = z.infer<typeof AskedByAnnexC>;

const decoded = (text: string) => decodeCbor(Buffer.from(text, 'base64url'));

/** Returns the requested document in the form of OpenID4VP. @throws PresentationRefused if the request is malformed */
export function readDeviceRequest({ deviceRequest }: AskedByAnnexC): AskedCredential {
  const request = asMap(decoded(deviceRequest), 'device request');
  const [first] = asArray(request.get('docRequests'), 'document requests');
  const items = embedded(asMap(first, 'document request').get('itemsRequest'), 'items request');
  const fields = asMap(decodeCbor(items), 'items request');
  const docType = asText(fields.get('docType'), 'document type');
  const claims = [...asMap(fields.get('nameSpaces'), 'namespaces')].flatMap(([namespace, names]) =>
    [...asMap(names, 'elements').keys()].map((name) => ({
      path: [asText(namespace, 'namespace'), asText(name, 'element')],
    })),
  );
  return {
    // A device request has no ids.
    id: 'mdoc',
    format: 'mso_mdoc',
    meta: { doctype_value: docType },
    claims,
  };
}

/** Encrypts the response to a page at `origin`, in base64url. @throws PresentationRefused if the request is malformed */
export async function sealFor(
  { encryptionInfo }: AskedByAnnexC,
  plaintext: Uint8Array,
  origin: string,
): Promise<string> {
  const [, parameters] = asArray(decoded(encryptionInfo), 'encryption info');
  const key = publicKeyOf(asMap(asMap(parameters, 'encryption info').get('recipientPublicKey'), 'key'));
  // The transcript of annex C has the nonce only inside `encryptionInfo`.
  const info = transcriptOf({ kind: 'iso-dc-api', origin, nonce: '', encryptionInfo });
  const { enc, ciphertext } = await seal(key, { plaintext, info });
  return Buffer.from(encode(['dcapi', { enc, cipherText: ciphertext }])).toString('base64url');
}
