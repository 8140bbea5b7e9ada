import { ApiError } from '../../platform/errors.ts';
import type { VerificationStores } from '../store.ts';
import { createFindUserId } from './user-id.ts';

/** Returns the ids of a user and the user's enrollments, which are targets of audit entries. */
export function createUserRecords({ enrollments, passkeys }: VerificationStores) {
  const findUserId = createFindUserId({
    enrollments,
    userOfPasskey: async (passkeyId) => (await passkeys.find(passkeyId))?.userId,
  });

  /** @param reference of a user, a passkey, an enrollment, or the subject that a partner knows @throws ApiError `not_found` */
  return async (reference: string): Promise<string[]> => {
    const userId = await findUserId(reference);
    if (userId === undefined) throw new ApiError('not_found', { description: `No user ${reference}` });
    return [userId, ...(await enrollments.ofUser(userId)).map(({ _id }) => _id)];
  };
}
