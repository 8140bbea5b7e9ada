import { ApiError } from '../../platform/errors.ts';
import type { VerificationStores } from '../store.ts';
import { createFindUserId } from './user-id.ts';

/** Returns the ids of a user and the user's enrollments, which are targets of audit entries. */
export function createUserRecords(stores: VerificationStores) {
  const findUserId = createFindUserId(stores);

  /** @param reference of a user, a passkey, an enrollment, or the subject that a partner knows @throws ApiError `not_found` */
  return async (reference: string): Promise<string[]> => {
    const userId = await findUserId(reference);
    if (userId === undefined) throw new ApiError('not_found', { description: `No user ${reference}` });
    return [userId, ...(await stores.enrollments.ofUser(userId)).map(({ _id }) => _id)];
  };
}
