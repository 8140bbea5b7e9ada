import { createHash, type KeyObject, randomBytes } from 'node:crypto';
import {
  CoseKey,
  DeviceRequest,
  DocRequest,
  Holder,
  IssuerSigned,
  ItemsRequest,
  type MdocContext,
  SessionTranscript,
} from '@owf/mdoc';
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc';
import { encode } from 'cborg';
import { z } from 'zod';
import { signEs256 } from '../../server/identity-wallet/formats/cbor.ts';
import type { Handover } from '../../server/identity-wallet/formats/transcript.ts';

// The mdoc library changes zod's error messages for the whole process. This restores the default messages.
z.config({ customError: undefined });

/** Computes a digest for the SD-JWT library. @param algorithm such as `sha-256` */
const hasher = (data: string | ArrayBuffer, algorithm: string) =>
  new Uint8Array(
    createHash(algorithm.replace('-', ''))
      .update(typeof data === 'string' ? data : Buffer.from(data))
      .digest(),
  );

/** Returns the SD-JWT library with the keys to issue and to present with. */
const sdJwtLibrary = (keys: { issuer?: KeyObject; holder?: KeyObject }) => {
  const signWith = (key: KeyObject) => (data: string) =>
    signEs256(key, Buffer.from(data)).toString('base64url');
  return new SDJwtVcInstance({
    hasher,
    saltGenerator: (length = 16) => randomBytes(length).toString('base64url'),
    ...(keys.issuer ? { signer: signWith(keys.issuer), signAlg: 'ES256' } : {}),
    ...(keys.holder ? { kbSigner: signWith(keys.holder), kbSignAlg: 'ES256' } : {}),
  });
};

const hashNames = { 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' } as const;
const unused = (): never => {
  throw new Error('wallets do not use this');
};

/** Returns the cryptographic functions that the library needs, for an identity wallet that holds `key`. */
const contextWith = (key: KeyObject): Pick<MdocContext, 'crypto' | 'cose'> => ({
  crypto: {
    random: (length) => new Uint8Array(randomBytes(length)),
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(createHash(hashNames[digestAlgorithm]).update(bytes).digest()),
    calculateEphemeralMacKey: unused,
  },
  cose: {
    sign1: { sign: ({ toBeSigned }) => new Uint8Array(signEs256(key, toBeSigned)), verify: unused },
    mac0: { sign: unused, verify: unused },
  },
});

/** Returns the transcript of annex C. The library does not know this handover, so the transcript is given encoded. */
function annexCTranscript(encryptionInfo: string, origin: string): SessionTranscript {
  const values = encode([encryptionInfo, origin]);
  const handover = ['dcapi', createHash('sha256').update(values).digest()];
  const [deviceEngagement, readerKey] = [null, null]; // Only devices that are near each other exchange them.
  const encodedStructure = { value: [deviceEngagement, readerKey, handover] };
  return Object.create(SessionTranscript.prototype, { encodedStructure }) as SessionTranscript;
}

/** Returns the session transcript, which the holder of an mdoc signs. */
async function transcriptFor(handover: Handover, platform: ReturnType<typeof contextWith>) {
  if (handover.kind === 'iso-dc-api') return annexCTranscript(handover.encryptionInfo, handover.origin);
  const { nonce, thumbprint } = handover;
  const common = { nonce, ...(thumbprint ? { jwkThumbprint: thumbprint } : {}) };
  if (handover.kind === 'dc-api')
    return SessionTranscript.forOid4VpDcApi({ ...common, origin: handover.origin }, platform);
  const { clientId, responseUri } = handover;
  return SessionTranscript.forOid4Vp({ ...common, clientId, responseUri }, platform);
}

interface MdocRequest {
  issuerSigned: Uint8Array;
  key: KeyObject;
  docType: string;
  /** The namespace of the elements. The default is the document type. */
  namespace?: string;
  elements: readonly string[];
  handover: Handover;
}

/**
 * Makes a device response with these elements, in base64url. The library chooses elements by a device request, so one is made for
 * it.
 */
export async function presentMdoc(request: MdocRequest): Promise<string> {
  const { issuerSigned, key, docType, namespace = docType, elements, handover } = request;
  const platform = contextWith(key);
  const sessionTranscript = await transcriptFor(handover, platform);
  const intendsToRetain = false;
  const names = Object.fromEntries(elements.map((name) => [name, intendsToRetain]));
  const deviceRequest = DeviceRequest.create({
    docRequests: [
      DocRequest.create({
        itemsRequest: ItemsRequest.create({ docType, namespaces: { [namespace]: names } }),
      }),
    ],
  });
  const response = await Holder.createDeviceResponseForDeviceRequest(
    {
      deviceRequest,
      sessionTranscript,
      issuerSigned: [IssuerSigned.decode(issuerSigned)],
      signature: { signingKey: CoseKey.fromJwk({ ...key.export({ format: 'jwk' }), alg: 'ES256' }) },
    },
    platform,
  );
  return Buffer.from(response.encode()).toString('base64url');
}

/** By a frame, the SD-JWT library chooses what to disclose: it has the structure of the claims, and `true` for each value. */
type Frame = { [name: string]: Frame | true };

/** Returns the frame that discloses the values at these paths. Null in a path stands for every element of a list. */
function frameOf(paths: readonly (readonly (string | null)[])[], claims: unknown): Frame | true {
  if (paths.some((path) => path.length === 0)) return true;
  const entries = Object.entries(claims as object).flatMap(([name, value]) => {
    const pathsHere = paths.filter(([first]) => first === null || first === name);
    const pathsInside = pathsHere.map(([, ...rest]) => rest);
    return pathsInside.length > 0 ? [[name, frameOf(pathsInside, value)] as const] : [];
  });
  return Object.fromEntries(entries);
}

interface SdJwtRequest {
  credential: string;
  claims: Readonly<Record<string, unknown>>;
  key: KeyObject;
  paths: readonly (readonly (string | null)[])[];
  handover: Handover;
  now: number;
}

/** Presents an SD-JWT VC with these claims, and the holder's proof. */
export async function presentSdJwt(request: SdJwtRequest): Promise<string> {
  const { credential, claims, key, paths, handover, now } = request;
  const aud = handover.kind === 'redirect' ? handover.clientId : `origin:${handover.origin}`;
  const payload = { iat: Math.floor(now / 1000), aud, nonce: handover.nonce };
  return sdJwtLibrary({ holder: key }).present(credential, frameOf(paths, claims) as never, {
    kb: { payload },
  });
}
