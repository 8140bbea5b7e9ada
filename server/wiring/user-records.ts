import { ApiError } from '../platform/errors.ts';
import type { EnrollmentStore } from '../verification/people/enrollment-store.ts';

type Enrollments = Pick<EnrollmentStore, 'find' | 'ofUser' | 'userOfSubject'>;

/** Returns the ids of a user and the user's enrollments, which are targets of audit entries. */
export function createUserRecords(enrollments: Enrollments) {
  async function idOf(reference: string): Promise<string | undefined> {
    if (reference.startsWith('usr_')) return reference;
    if (reference.startsWith('enr_')) return (await enrollments.find(reference))?.userId;
    return enrollments.userOfSubject(reference);
  }

  /** @param reference of a user, an enrollment, or the subject that a partner knows @throws ApiError `not_found` */
  return async (reference: string): Promise<string[]> => {
    const userId = await idOf(reference);
    if (userId === undefined) throw new ApiError('not_found', { description: `No user ${reference}` });
    return [userId, ...(await enrollments.ofUser(userId)).map(({ _id }) => _id)];
  };
}
