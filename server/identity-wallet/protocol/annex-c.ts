import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { IdentityWalletSettings } from '../../../contracts/identity-wallet-sources.ts';
import { ApiError } from '../../platform/errors.ts';
import type { RelyingPartyAccess } from '../access.ts';
import { asArray, asBytes, asMap, coseKeyOf, decodeCbor, encode, type Signer } from '../formats/cbor.ts';
import { parseJson } from '../formats/json.ts';
import { type Handover, transcriptOf } from '../formats/transcript.ts';
import { demand, PresentationRefused, unreadable } from '../refused.ts';
import { deviceRequestOf } from './device-request.ts';
import { type AskedSession, annexC, type DigitalRequest } from './digital-request.ts';
import type { Handle, Handles } from './handles.ts';
import { openSealed } from './hpke.ts';
import { queryFor } from './query.ts';

interface Dependencies {
  settings: IdentityWalletSettings;
  access: (() => RelyingPartyAccess) | undefined;
  handles: Handles;
  /** The origin of the pages that ask, by which the browser identifies them to the identity wallet. */
  origin: string;
}

/** The first member of the two arrays of annex C, `encryptionInfo` and the encrypted response. */
const label = 'dcapi';
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** Returns `encryptionInfo`: a nonce, and the key to encrypt the answer for. The holder signs this text as it was sent. */
function encryptionInfoOf(nonce: Uint8Array, key: KeyObject): string {
  return base64url(encode([label, { nonce, recipientPublicKey: coseKeyOf(key) }]));
}

const Answer = z.object({ response: z.string().regex(/^[A-Za-z0-9_-]+$/) });

/** Reads the encrypted response from the JSON that the browser gave to the page. @throws ApiError `invalid_request` */
function sealedIn(body: string) {
  try {
    const answer = Answer.safeParse(parseJson(body));
    if (!answer.success) throw new SyntaxError('it is not in base64url');
    const response = Buffer.from(answer.data.response, 'base64url');
    const [name, content, ...more] = asArray(decodeCbor(response), 'response');
    demand(name === label && more.length === 0, 'malformed', 'response');
    const fields = asMap(content, 'response');
    return { enc: asBytes(fields.get('enc'), 'enc'), ciphertext: asBytes(fields.get('cipherText'), 'text') };
  } catch (error) {
    const isFormWrong = error instanceof PresentationRefused || error instanceof SyntaxError;
    throw isFormWrong ? unreadable(`response: ${error.message}`) : error;
  }
}

/** Makes device requests for the Digital Credentials API without OpenID4VP (ISO/IEC TS 18013-7, annex C). */
export function createAnnexC({ settings, access, handles, origin }: Dependencies) {
  /** Returns the `encryptionInfo` of a request. It is the same each time, because nonce and key are derived from the handle. */
  function infoOf(handle: Handle): string {
    const nonce = new Uint8Array(Buffer.from(handles.nonceOf(handle), 'base64url'));
    return encryptionInfoOf(nonce, handles.hpkeKeyOf(handle));
  }
  function reader(): Signer | undefined {
    if (!access) return undefined;
    const { key, certificates } = access();
    return { key, certificates: certificates.map(({ x509 }) => new Uint8Array(x509.raw)) };
  }

  /** Returns what the holder signs so that an answer is valid for this request only. */
  const handoverOf = (handle: Handle): Handover => ({
    kind: 'iso-dc-api',
    origin,
    nonce: handles.nonceOf(handle),
    encryptionInfo: infoOf(handle),
  });

  return {
    handoverOf,

    /**
     * Returns the request; undefined if the source asks for no mdoc. A device request has no alternatives.
     * So it names the elements of the first option, which is the preferred one.
     */
    request(handle: Handle, { claims }: AskedSession): DigitalRequest | undefined {
      const query = queryFor(settings, claims).find(({ format }) => format === 'mso_mdoc');
      if (!query) return undefined;
      const [docType = ''] = query.types;
      const preferred = query.options[0] ?? [];
      const elements = preferred.map(([namespace, element]) => [namespace ?? '', element ?? ''] as const);
      const transcript = transcriptOf(handoverOf(handle));
      const deviceRequest = deviceRequestOf({ docType, elements }, transcript, reader());
      const data = { deviceRequest: base64url(deviceRequest), encryptionInfo: infoOf(handle) };
      return { protocol: annexC, data };
    },

    /** Decrypts the device response to this request. @throws ApiError `invalid_request` */
    async open(handle: Handle, body: string): Promise<Uint8Array> {
      if (!settings.formats.includes('mso_mdoc')) throw unreadable('this source asks for no mdoc');
      const info = transcriptOf(handoverOf(handle));
      try {
        return await openSealed(handles.hpkeKeyOf(handle), { ...sealedIn(body), info });
      } catch (error) {
        throw error instanceof ApiError ? error : unreadable('it cannot be decrypted');
      }
    },
  };
}
