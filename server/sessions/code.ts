import { bytesOfId, bytesOfSecret, idOfBytes, keyed, secretOfBytes, sha256 } from '../platform/ids.ts';

/** A code or a link that a caller has sent, in parts. */
export interface PresentedSecret {
  /** SHA-256 of the whole text; the session stores it. */
  hash: string;
  /** The session id in the text; undefined if the text contains none. */
  sessionId: string | undefined;
}

/** Length of the session's id, and of the secret after it, in bytes. */
const partBytes = 16;

/**
 * The code of a completed session. It contains the session's id, so the session is found by its `_id` in any shard. It
 * is derived, so it can be sent again without being stored.
 */
export function codeOf(key: Uint8Array, sessionId: string): string {
  const id = bytesOfId('session', sessionId);
  if (!id) throw new Error(`${sessionId} is no id of a session`);
  return secretOfBytes(
    'code',
    Buffer.concat([id, keyed(key, ['code secret', sessionId]).subarray(0, partBytes)]),
  );
}

/** Splits a code that a caller has sent. */
export function presentedCode(code: string): PresentedSecret {
  const id = bytesOfSecret('code', code)?.subarray(0, partBytes);
  return { hash: sha256(code), sessionId: id && idOfBytes('session', id) };
}
