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
import { encode } from 'cborg';
import { z } from 'zod';
import { sdJwtLibrary, signEs256 } from './attestations.ts';

// The mdoc library sets error messages of zod for the whole process; ours are zod's own.
z.config({ customError: undefined });

/**
 * What a presentation is made for: a request that is answered at an address, or one of a page at an origin. With
 * `encryptionInfo` the page has asked by ISO/IEC TS 18013-7, annex C.
 */
export type PresentationContext = {
  nonce: string;
  /** RFC 7638 thumbprint of the key that the answer is encrypted for. */
  thumbprint?: Uint8Array | undefined;
} & ({ clientId: string; responseUri: string } | { origin: string; encryptionInfo?: string });

const hashNames = { 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' } as const;
const unused = (): never => {
  throw new Error('wallets do not use this');
};

/** What the library needs of the platform, for an identity wallet that holds `key`. */
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

/** The library does not know the hand-over of annex C yet: its transcript is given encoded. */
const annexCTranscript = (encryptionInfo: string, origin: string): SessionTranscript =>
  Object.create(SessionTranscript.prototype, {
    encodedStructure: {
      value: [
        null,
        null,
        [
          'dcapi',
          createHash('sha256')
            .update(encode([encryptionInfo, origin]))
            .digest(),
        ],
      ],
    },
  }) as SessionTranscript;

async function transcriptFor(context: PresentationContext, platform: ReturnType<typeof contextWith>) {
  const { nonce, thumbprint } = context;
  const given = { nonce, ...(thumbprint ? { jwkThumbprint: thumbprint } : {}) };
  if (!('origin' in context)) {
    const { clientId, responseUri } = context;
    return SessionTranscript.forOid4Vp({ ...given, clientId, responseUri }, platform);
  }
  const { origin, encryptionInfo } = context;
  return encryptionInfo === undefined
    ? SessionTranscript.forOid4VpDcApi({ ...given, origin }, platform)
    : annexCTranscript(encryptionInfo, origin);
}

interface MdocRequest {
  issuerSigned: Uint8Array;
  key: KeyObject;
  docType: string;
  /** The namespace of the elements; the document type where absent. */
  namespace?: string;
  elements: readonly string[];
  context: PresentationContext;
}

/** A device response with these elements, in base64url. */
export async function presentMdoc(request: MdocRequest): Promise<string> {
  const { issuerSigned, key, docType, namespace = docType, elements, context } = request;
  const platform = contextWith(key);
  const sessionTranscript = await transcriptFor(context, platform);
  const names = Object.fromEntries(elements.map((name) => [name, false]));
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

type Frame = { [name: string]: Frame | boolean };

function frameOf(paths: readonly (readonly (string | null)[])[], claims: unknown): Frame {
  const frame: Frame = {};
  for (const [first, ...rest] of paths) {
    const value = claims as Record<string, unknown>;
    const names = first === null ? Object.keys(value) : first === undefined ? [] : [first];
    for (const name of names) {
      const inner = rest.length > 0 ? frameOf([rest], value[name]) : true;
      const before = frame[name];
      frame[name] = typeof before === 'object' && typeof inner === 'object' ? { ...before, ...inner } : inner;
    }
  }
  return frame;
}

interface SdJwtRequest {
  credential: string;
  claims: Readonly<Record<string, unknown>>;
  key: KeyObject;
  paths: readonly (readonly (string | null)[])[];
  context: PresentationContext;
  now: number;
}

/** An SD-JWT VC with these claims, and the proof that its holder is here. */
export async function presentSdJwt(request: SdJwtRequest): Promise<string> {
  const { credential, claims, key, paths, context, now } = request;
  const aud = 'origin' in context ? `origin:${context.origin}` : context.clientId;
  const payload = { iat: Math.floor(now / 1000), aud, nonce: context.nonce };
  return sdJwtLibrary({ holder: key }).present(credential, frameOf(paths, claims) as never, {
    kb: { payload },
  });
}
