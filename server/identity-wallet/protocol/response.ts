import type { KeyObject } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { z } from 'zod';
import { isObject, parseJson } from '../formats/json.ts';
import { unreadable } from '../refused.ts';
import type { Channel } from './request.ts';

/** A raw answer: the fields that an identity wallet posted, or the JSON of the Digital Credentials API. */
export type IdentityWalletAnswer = { channel: Channel; body: unknown };

/** A `vp_token`, or a device response. */
export type RawPresentation = object | Uint8Array;

export type IdentityWalletResponse =
  | { kind: 'presented'; presented: RawPresentation }
  | { kind: 'error'; error: string };

/** The fields of an answer (OpenID4VP 1.0, 8.2, 8.3.1 and A.4). Other fields are ignored. */
const Fields = z.object({
  vp_token: z.unknown().optional(),
  response: z.string().optional(),
  error: z.string().max(64).optional(),
});

function parsed(text: string, what: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw unreadable(`${what} is ${(error as SyntaxError).message}`);
  }
}

function utf8Of(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('the decrypted answer is not UTF-8');
  }
}

function fieldsOf(body: unknown): z.infer<typeof Fields> {
  const fields = Fields.safeParse(body);
  if (!fields.success) throw unreadable('it has fields of a wrong type');
  return fields.data;
}

async function decrypt(jwe: string, key: KeyObject): Promise<unknown> {
  let plaintext: Uint8Array;
  try {
    ({ plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: ['ECDH-ES'],
      contentEncryptionAlgorithms: ['A128GCM', 'A256GCM'],
    }));
  } catch {
    throw unreadable('it cannot be decrypted');
  }
  return parsed(utf8Of(plaintext), 'the decrypted answer');
}

/** Returns an error answer whose text is safe to store and to show. */
const errorResponse = (error: string): IdentityWalletResponse => ({
  kind: 'error',
  error: /^[a-z_]{1,64}$/.test(error) ? error : 'an error',
});

/** Reads a presentation, which must be an object with the presentations of each credential. */
function presented(vpToken: unknown): IdentityWalletResponse {
  if (!isObject(vpToken)) throw unreadable('vp_token is not an object');
  return { kind: 'presented', presented: vpToken };
}

/**
 * Reads the answer of an identity wallet. An error may be sent in clear, even if the request asked for encryption.
 * @param key decrypts the answer; undefined if the request did not ask for encryption
 * @throws ApiError `invalid_request` if it is not an answer to this request
 */
export async function readResponse(
  { channel, body }: IdentityWalletAnswer,
  key: KeyObject | undefined,
): Promise<IdentityWalletResponse> {
  // The identity wallet posts a form to the response URI. The Digital Credentials API returns JSON.
  const isForm = channel === 'response-uri';
  const { error, response, vp_token: token } = fieldsOf(isForm ? body : parsed(String(body), 'data'));
  if (error !== undefined) return errorResponse(error);
  if (key) return readEncrypted(response, key);
  if (typeof token === 'string') return presented(parsed(token, 'vp_token'));
  // Only JSON can have the token as an object.
  if (isForm) throw unreadable('it has no vp_token in JSON');
  return presented(token);
}

/** Reads an answer that is encrypted for `key`. An error may be inside too. */
async function readEncrypted(response: string | undefined, key: KeyObject): Promise<IdentityWalletResponse> {
  if (response === undefined) throw unreadable('it is not encrypted');
  const { error, vp_token: token } = fieldsOf(await decrypt(response, key));
  return error === undefined ? presented(token) : errorResponse(error);
}
