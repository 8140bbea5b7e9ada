import { createHash, type KeyObject } from 'node:crypto';
import { encode } from 'cborg';
import {
  asArray,
  asMap,
  type CborMap,
  decodeCbor,
  embed,
  embedded,
  joinAsArray,
  signSign1,
} from '../formats/cbor.ts';
import { audienceOf, type Handover, transcriptOf } from '../formats/transcript.ts';
import { signJwt } from './attestations.ts';

interface MdocRequest {
  issuerSigned: Uint8Array;
  key: KeyObject;
  docType: string;
  /** The namespace of the elements. The default is the document type. */
  namespace?: string;
  elements: readonly string[];
  handover: Handover;
}

/** Signs the transcript as the holder (ISO/IEC 18013-5, 9.1.3.6), without device elements. */
function deviceSignedFor({ key, docType, handover }: MdocRequest): object {
  const nameSpaces = embed(encode(new Map()));
  const authentication = embed(
    joinAsArray(encode('DeviceAuthentication'), transcriptOf(handover), encode(docType), nameSpaces),
  );
  return {
    nameSpaces: decodeCbor(nameSpaces),
    deviceAuth: { deviceSignature: signSign1({ key, certificates: [] }, authentication, true) },
  };
}

/** Makes a device response with these elements, in base64url (ISO/IEC 18013-5, 8.3.2.1.2.2). */
export function presentMdoc(request: MdocRequest): string {
  const { issuerSigned, docType, namespace = docType, elements } = request;
  const issued = asMap(decodeCbor(issuerSigned), 'attestation');
  const items = asArray(asMap(issued.get('nameSpaces'), 'namespaces').get(namespace), 'elements');
  const nameOf = (item: unknown) =>
    (decodeCbor(embedded(item, 'element')) as CborMap).get('elementIdentifier');
  const shown = items.filter((item) => elements.includes(String(nameOf(item))));
  const document = {
    docType,
    issuerSigned: { nameSpaces: { [namespace]: shown }, issuerAuth: issued.get('issuerAuth') },
    deviceSigned: deviceSignedFor(request),
  };
  return Buffer.from(encode({ version: '1.0', documents: [document], status: 0 })).toString('base64url');
}

type Path = readonly (string | null)[];
type Json = Readonly<Record<string, unknown>>;

const digestOf = (disclosure: string) => createHash('sha256').update(disclosure).digest('base64url');
const decodeJson = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as unknown;

/**
 * Chooses the disclosures of the values at these paths, and of all that is inside them. Null in a path stands for every element
 * of a list.
 */
function choose(payload: unknown, disclosures: readonly string[], paths: readonly Path[]): string[] {
  const byDigest = new Map(disclosures.map((text) => [digestOf(text), text]));

  /** @param all whether the whole value is shown */
  function inside(value: unknown, asked: readonly Path[], all: boolean): string[] {
    if (typeof value !== 'object' || value === null) return [];
    const members = Array.isArray(value)
      ? value.map((element) => (element as Json)['...'])
      : (((value as Json)['_sd'] as unknown[] | undefined) ?? []);
    return members.flatMap((digest) => {
      const disclosure = byDigest.get(String(digest));
      if (disclosure === undefined) return [];
      const parts = decodeJson(disclosure) as unknown[];
      const name = Array.isArray(value) ? null : parts[1];
      const here = asked.filter(([first]) => first === name);
      if (!all && here.length === 0) return [];
      const rest = here.map(([, ...others]) => others);
      const isWhole = all || rest.some((path) => path.length === 0);
      return [disclosure, ...inside(parts.at(-1), rest, isWhole)];
    });
  }

  return inside(payload, paths, false);
}

interface SdJwtRequest {
  credential: string;
  key: KeyObject;
  paths: readonly Path[];
  handover: Handover;
  now: number;
}

/** Presents an SD-JWT VC with these claims, and the holder's proof (RFC 9901 4.3). */
export function presentSdJwt({ credential, key, paths, handover, now }: SdJwtRequest): string {
  const [jwt = '', ...disclosures] = credential.split('~').slice(0, -1);
  const [, payload = ''] = jwt.split('.');
  const shown = [jwt, ...choose(decodeJson(payload), disclosures, paths), ''].join('~');
  const proof = {
    iat: Math.floor(now / 1000),
    aud: audienceOf(handover),
    nonce: handover.nonce,
    sd_hash: digestOf(shown),
  };
  return shown + signJwt(key, { typ: 'kb+jwt' }, proof);
}
