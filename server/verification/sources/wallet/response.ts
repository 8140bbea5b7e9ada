import type { KeyObject } from 'node:crypto';
import { compactDecrypt } from 'jose';
import { z } from 'zod';
import { demand, PresentationRefused } from './refused.ts';

/** What a wallet may post (OpenID4VP 1.0, 8.2 and 8.3.1); what else it sends is ignored. */
const Fields = z.object({
  vp_token: z.string().optional(),
  response: z.string().optional(),
  error: z.string().max(64).optional(),
});
const Parameters = z.object({ vp_token: z.unknown().optional(), error: z.string().max(64).optional() });

export type WalletResponse = { kind: 'presented'; vpToken: unknown } | { kind: 'error'; error: string };

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PresentationRefused('malformed', 'JSON');
  }
}

async function decrypt(jwe: string, key: KeyObject): Promise<unknown> {
  let plaintext: Uint8Array;
  try {
    ({ plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: ['ECDH-ES'],
      contentEncryptionAlgorithms: ['A128GCM', 'A256GCM'],
    }));
  } catch {
    throw new PresentationRefused('malformed', 'the answer cannot be decrypted');
  }
  return parseJson(Buffer.from(plaintext).toString());
}

/** A word that is safe to keep and to show. */
const plainError = (error: string) => (/^[a-z_]{1,64}$/.test(error) ? error : 'an error');

/**
 * What the page got from the Digital Credentials API (OpenID4VP 1.0, A.4), in JSON: as it would be posted by a wallet.
 * @throws PresentationRefused
 */
export function postedFrom(data: string): unknown {
  const fields = z.looseObject({ vp_token: z.unknown().optional() }).safeParse(parseJson(data));
  demand(fields.success, 'malformed', 'answer');
  const { vp_token: token, ...rest } = fields.data;
  return token === undefined ? rest : { ...rest, vp_token: JSON.stringify(token) };
}

/**
 * The answer of a wallet. With a key it has to be encrypted for it; an error may be sent in clear.
 * @throws PresentationRefused
 */
export async function readResponse(body: unknown, key: KeyObject | undefined): Promise<WalletResponse> {
  const fields = Fields.safeParse(body);
  demand(fields.success, 'malformed', 'answer');
  const { error, response, vp_token: token } = fields.data;
  if (error !== undefined) return { kind: 'error', error: plainError(error) };
  if (!key) {
    demand(token !== undefined, 'malformed', 'no vp_token');
    return { kind: 'presented', vpToken: parseJson(token) };
  }
  demand(response !== undefined, 'malformed', 'the answer is not encrypted');
  const inner = Parameters.safeParse(await decrypt(response, key));
  demand(inner.success, 'malformed', 'answer');
  if (inner.data.error !== undefined) return { kind: 'error', error: plainError(inner.data.error) };
  return { kind: 'presented', vpToken: inner.data.vp_token };
}
