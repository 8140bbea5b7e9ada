import type { Forms } from '../../platform/database/schema.ts';
import {
  bytesOfId,
  bytesOfSecret,
  deriveSecret,
  idOfBytes,
  keyed,
  sameText,
  secretOfBytes,
  sha256,
} from '../../platform/ids.ts';
import type { Session } from './transitions.ts';

/** A code, or a link, as it is presented. */
export interface Presented {
  /** SHA-256, as the session keeps it. */
  hash: string;
  /** The session that it names; undefined for a text that names none. */
  sessionId: string | undefined;
}

/** Bytes of the session's id, and of the secret after it. */
const partBytes = 16;

/** Names its session, so that the session is found by its `_id`, in whichever shard it is. */
function naming(key: Uint8Array, sessionId: string): string {
  const id = bytesOfId('session', sessionId);
  if (!id) throw new Error(`${sessionId} is no id of a session`);
  return secretOfBytes(
    'code',
    Buffer.concat([id, keyed(key, ['code secret', sessionId]).subarray(0, partBytes)]),
  );
}

/** Codes of schema version 2 name no session. */
const unnamed = (key: Uint8Array, sessionId: string) => deriveSecret(key, 'code', [sessionId]);

/** The code of a session that is completed now. It is derived, so that it need not be kept to be sent again. */
export function codeOf(key: Uint8Array, sessionId: string, forms: Forms): string {
  return forms === 'old' ? unnamed(key, sessionId) : naming(key, sessionId);
}

/** Derives the code of a completed session again, in the form in which it was issued. */
export function codeAgain(key: Uint8Array, { _id, code }: Pick<Session, '_id' | 'code'>): string | undefined {
  const candidates = [naming, unnamed].map((form) => form(key, _id));
  return candidates.find((candidate) => code && sameText(sha256(candidate), code.hash));
}

export function presentedCode(code: string): Presented {
  const id = bytesOfSecret('code', code)?.subarray(0, partBytes);
  return { hash: sha256(code), sessionId: id && idOfBytes('session', id) };
}
