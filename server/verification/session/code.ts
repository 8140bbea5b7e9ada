import { bytesOfId, bytesOfSecret, idOfBytes, keyed, secretOfBytes, sha256 } from '../../platform/ids.ts';

/** A code, or a link, as it is presented. */
export interface Presented {
  /** SHA-256, as the session keeps it. */
  hash: string;
  /** The session that it names; undefined for a text that names none. */
  sessionId: string | undefined;
}

/** Bytes of the session's id, and of the secret after it. */
const partBytes = 16;

/**
 * The code of a completed session. It names its session, so that the session is found by its `_id`, in whichever shard it is. It
 * is derived, so that it need not be kept to be sent again.
 */
export function codeOf(key: Uint8Array, sessionId: string): string {
  const id = bytesOfId('session', sessionId);
  if (!id) throw new Error(`${sessionId} is no id of a session`);
  return secretOfBytes(
    'code',
    Buffer.concat([id, keyed(key, ['code secret', sessionId]).subarray(0, partBytes)]),
  );
}

export function presentedCode(code: string): Presented {
  const id = bytesOfSecret('code', code)?.subarray(0, partBytes);
  return { hash: sha256(code), sessionId: id && idOfBytes('session', id) };
}
