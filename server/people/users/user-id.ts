import type { VerificationStores } from '../store.ts';

/** Returns a function that finds a user's id by the id of the user, of a passkey or of an enrollment, or by a subject. */
export function createFindUserId({
  enrollments,
  passkeys,
}: Pick<VerificationStores, 'enrollments' | 'passkeys'>) {
  return async (reference: string): Promise<string | undefined> => {
    if (reference.startsWith('usr_')) return reference;
    if (reference.startsWith('pky_')) return (await passkeys.find(reference))?.userId;
    if (reference.startsWith('enr_')) return (await enrollments.find(reference))?.userId;
    return enrollments.userOfSubject(reference);
  };
}
