import { isIP } from 'node:net';
import {
  type AuthenticationResponseJSON,
  type AuthenticatorTransport,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import { z } from 'zod';
import { parseJson } from '../http/json.ts';
import { isDerSignature } from './der-signature.ts';

/** The accepted COSE algorithms, in order of preference: EdDSA, ES256, RS256. */
const es256 = -7;
const algorithms = [-8, es256, -257];
/** Labels of a COSE_Key. `-1` is the curve, or the modulus of an RSA key (RFC 9053 7, RFC 8230 4). */
const keyLabel = { type: 1, algorithm: 3, curveOrModulus: -1 };
/** By algorithm: the type and the curve that a key must have (WebAuthn 5.8.5). RSA keys have no curve. */
const keyKinds = new Map([
  [-8, { type: 1, curve: 6 }],
  [es256, { type: 2, curve: 1 }],
]);
const rsaType = 3;
/** The fewest bytes of an RSA modulus: 2,048 bits. */
const fewestModulusBytes = 256;
const timeoutMs = 120_000;

const base64url = (characters: number) =>
  z
    .string()
    .min(1)
    .max(characters)
    .regex(/^[A-Za-z0-9_-]+$/);
/** Up to 1,023 bytes (WebAuthn 4). */
const credentialId = base64url(1_364);
const clientDataJSON = base64url(4_096);

/** The members of `PublicKeyCredential.toJSON()` that are read. Others are dropped. */
const Assertion = z.object({
  id: credentialId,
  response: z.object({
    clientDataJSON,
    authenticatorData: base64url(4_096),
    signature: base64url(4_096),
    userHandle: base64url(128).optional(),
  }),
});
const Creation = z.object({
  id: credentialId,
  response: z.object({
    clientDataJSON,
    attestationObject: base64url(12_000),
    transports: z.array(z.string().max(32)).max(10).default([]),
  }),
});
const ClientData = z.object({
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});

/** A browser's response that was parsed, but not verified. */
export interface Answer<R> {
  /** Base64url. */
  credentialId: string;
  challenge: string;
  /** Whether the requesting page was in a frame of another site. Our pages never are, so such a response is refused. */
  isEmbedded: boolean;
  response: R;
}
export type AssertionAnswer = Answer<z.infer<typeof Assertion>['response']>;
export type CreationAnswer = Answer<z.infer<typeof Creation>['response']>;

export interface PasskeyKey {
  /** Base64url, up to 1,364 characters. */
  credentialId: string;
  /** COSE_Key. */
  publicKey: Uint8Array;
  /** 0 if the authenticator does not count. */
  counter: number;
  transports: string[];
  /** Whether the passkey is kept on several devices. */
  synced: boolean;
}

/** The fields of a passkey that a use changes. */
export type PasskeyUse = Pick<PasskeyKey, 'counter' | 'synced'>;

/** Reads a browser's response from JSON. Undefined if it is malformed. */
function readAnswer<S extends { id: string; response: { clientDataJSON: string } }>(
  schema: z.ZodType<S>,
  text: string,
): Answer<S['response']> | undefined {
  try {
    const { id, response } = schema.parse(parseJson(text));
    const data = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString());
    const { challenge, crossOrigin, topOrigin } = ClientData.parse(data);
    const isEmbedded = crossOrigin === true || topOrigin !== undefined;
    return { credentialId: id, challenge, isEmbedded, response };
  } catch {
    return undefined;
  }
}

/** @returns undefined for a text that is not an authenticator's assertion */
export const readAssertion = (text: string): AssertionAnswer | undefined => readAnswer(Assertion, text);
/** @returns undefined for a text that is not a new credential */
export const readCreation = (text: string): CreationAnswer | undefined => readAnswer(Creation, text);

/**
 * Why passkeys cannot be bound to this id at this origin; undefined if they can (WebAuthn 5.1.2). The id has to be the host
 * name of the origin or a parent domain. The origin has to use https or localhost.
 */
export function relyingPartyFault(id: string, origin: string): string | undefined {
  const { hostname, protocol } = new URL(origin);
  if (isIP(hostname.replace(/^\[|\]$/g, ''))) return 'a base URL with an IP address can have no passkeys';
  if (protocol !== 'https:' && hostname !== 'localhost' && !hostname.endsWith('.localhost'))
    return 'passkeys need a base URL with https';
  const isTopLevelDomain = !id.includes('.');
  const isParentDomain = hostname.endsWith(`.${id}`) && !isTopLevelDomain;
  if (hostname !== id && !isParentDomain)
    return `${id} is neither the host of the base URL nor a parent domain of it`;
  return undefined;
}

interface RelyingParty {
  /** The host of the base URL, or a parent domain. */
  id: string;
  /** Shown by the browser. */
  name: string;
  /** The exact origin of the pages. */
  origin: string;
}

/** The attestation formats that authenticators send if no attestation was requested (WebAuthn 5.4.7). */
const formats: readonly string[] = ['none', 'packed'];

/** Whether a signature by the given algorithm is encoded as WebAuthn 6.5.5 requires. The library also accepts other encodings. */
const isEncoded = (signature: Uint8Array, algorithm: unknown) =>
  algorithm !== es256 || isDerSignature(signature);

/**
 * Whether the format is accepted, and its signature encoded as required. Certificates of other formats contain addresses, which
 * the library would fetch.
 */
function hasAcceptedFormat({ response }: CreationAnswer): boolean {
  try {
    const object = new Uint8Array(Buffer.from(response.attestationObject, 'base64url'));
    const attestation = decodeAttestationObject(object);
    const statement = attestation.get('attStmt');
    const signature = statement.get('sig');
    const isSignatureEncoded = signature === undefined || isEncoded(signature, statement.get('alg'));
    return formats.includes(attestation.get('fmt')) && isSignatureEncoded;
  } catch {
    return false;
  }
}

/** Whether the signature of an assertion is encoded as the algorithm of its key requires. */
function hasAcceptedSignature({ response }: AssertionAnswer, publicKey: Uint8Array): boolean {
  try {
    const algorithm = decodeCredentialPublicKey(new Uint8Array(publicKey)).get(keyLabel.algorithm);
    return isEncoded(Buffer.from(response.signature, 'base64url'), algorithm);
  } catch {
    return false;
  }
}

/** Whether a key has the type and curve of its algorithm, and is strong enough. The library accepts any that it can decode. */
function isAcceptedKey(publicKey: Uint8Array): boolean {
  const key: { get(label: number): unknown } = decodeCredentialPublicKey(new Uint8Array(publicKey));
  const [type, given] = [key.get(keyLabel.type), key.get(keyLabel.curveOrModulus)];
  const kind = keyKinds.get(Number(key.get(keyLabel.algorithm)));
  if (kind) return type === kind.type && given === kind.curve;
  return type === rsaType && given instanceof Uint8Array && given.length >= fewestModulusBytes;
}

/** Asks browsers for passkeys and verifies their answers (WebAuthn 3, sections 7.1 and 7.2). */
export function createRelyingParty({ id, name, origin }: RelyingParty) {
  /** What a browser's response has to match. */
  const expected = (challenge: string) => ({
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: true,
  });
  /** The members of a response that the library requires besides its `response`. */
  const envelope = (credential: string) => ({
    id: credential,
    rawId: credential,
    type: 'public-key' as const,
    clientExtensionResults: {},
  });

  return {
    /**
     * `PublicKeyCredentialCreationOptionsJSON` of a discoverable credential.
     * @param user `handle` base64url, up to 64 bytes, no personal data
     * @param existing credential ids that the user has already
     */
    creationOptions: (
      challenge: string,
      user: { handle: string; name: string },
      existing: readonly string[],
    ) => ({
      challenge,
      rp: { id, name },
      user: { id: user.handle, name: user.name, displayName: user.name },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      excludeCredentials: existing.map((credential) => ({ type: 'public-key', id: credential })),
      attestation: 'none',
      timeout: timeoutMs,
    }),

    /** `PublicKeyCredentialRequestOptionsJSON` for any passkey of this service. */
    requestOptions: (challenge: string) => ({
      challenge,
      rpId: id,
      userVerification: 'required',
      timeout: timeoutMs,
    }),

    /** @returns the new passkey; undefined if the response is invalid */
    async verifyCreation(answer: CreationAnswer, challenge: string): Promise<PasskeyKey | undefined> {
      if (answer.isEmbedded || !hasAcceptedFormat(answer)) return undefined;
      const response = { ...envelope(answer.credentialId), response: answer.response };
      const result = await verifyRegistrationResponse({
        ...expected(challenge),
        response: response as RegistrationResponseJSON,
        supportedAlgorithmIDs: algorithms,
      }).catch(() => undefined); // The library throws for most invalid responses.
      if (!result?.verified || !isAcceptedKey(result.registrationInfo.credential.publicKey)) return undefined;
      const { credential, credentialBackedUp } = result.registrationInfo;
      return {
        credentialId: credential.id,
        publicKey: credential.publicKey,
        counter: credential.counter,
        transports: answer.response.transports,
        synced: credentialBackedUp,
      };
    },

    /** @returns undefined if the response is invalid, or the counter has decreased */
    async verifyAssertion(
      answer: AssertionAnswer,
      challenge: string,
      { credentialId: id, publicKey, counter, transports }: PasskeyKey,
    ): Promise<PasskeyUse | undefined> {
      if (answer.isEmbedded || answer.credentialId !== id) return undefined;
      if (!hasAcceptedSignature(answer, publicKey)) return undefined;
      const result = await verifyAuthenticationResponse({
        ...expected(challenge),
        response: {
          ...envelope(answer.credentialId),
          response: answer.response,
        } as AuthenticationResponseJSON,
        credential: {
          id,
          publicKey: new Uint8Array(publicKey),
          counter,
          transports: transports as AuthenticatorTransport[],
        },
      }).catch(() => undefined); // The library throws for most invalid responses.
      if (!result?.verified) return undefined;
      const { newCounter, credentialBackedUp } = result.authenticationInfo;
      return { counter: newCounter, synced: credentialBackedUp };
    },
  };
}
