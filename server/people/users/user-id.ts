import type { EnrollmentStore } from '../enrollments/enrollment-store.ts';

interface Dependencies {
  enrollments: Pick<EnrollmentStore, 'find' | 'userOfSubject'>;
  userOfPasskey: (passkeyId: string) => Promise<string | undefined>;
}

/** Returns a function that finds a user's id by the id of the user, of a passkey or of an enrollment, or by a subject. */
export function createFindUserId({ enrollments, userOfPasskey }: Dependencies) {
  return async (reference: string): Promise<string | undefined> => {
    if (reference.startsWith('usr_')) return reference;
    if (reference.startsWith('pky_')) return userOfPasskey(reference);
    if (reference.startsWith('enr_')) return (await enrollments.find(reference))?.userId;
    return enrollments.userOfSubject(reference);
  };
}
