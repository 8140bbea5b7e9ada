import type { Mode } from '../../../../contracts/identifiers.ts';
import { requireFound } from '../../../platform/errors.ts';

export interface KeyOwner {
  keyId: string;
  partnerId: string;
  mode: Mode;
}

/** Tells which of these keys are paused, and until when. */
export type ReadPauses = (keyIds: readonly string[]) => Promise<ReadonlyMap<string, Date>>;

/** Finds an API key, revoked or not. @throws ApiError `not_found` */
export type RequireKey = (keyId: string) => Promise<KeyOwner>;

export function createRequireKey(
  findKey: (keyId: string) => Promise<Omit<KeyOwner, 'keyId'> | undefined>,
): RequireKey {
  return async (keyId) => {
    const key = requireFound(await findKey(keyId), `No API key ${keyId}`);
    return { keyId, partnerId: key.partnerId, mode: key.mode };
  };
}
