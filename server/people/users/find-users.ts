import type { FindUsers } from '../../../contracts/admin/users.ts';
import { ApiError } from '../../platform/errors.ts';
import type { PeopleContext } from '../context.ts';
import type { Enrollment } from '../enrollments/enrollment-store.ts';

const newestFirst = (one: Enrollment, other: Enrollment): number =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one._id < other._id ? 1 : -1);

/** Finds enrollments of users, newest first, by a customer of a shop or any id that support knows. */
export function createUserSearch({ enrollments, sessions, customerHash }: PeopleContext) {
  /** The enrollments of the user that an id names, or the ones with a pairwise subject. */
  async function enrollmentsOf(reference: string): Promise<Enrollment[]> {
    const ofUser = async (userId: string | undefined) =>
      userId === undefined ? [] : enrollments.ofUser(userId);
    if (reference.startsWith('usr_')) return ofUser(reference);
    if (reference.startsWith('enr_')) return ofUser((await enrollments.find(reference))?.userId);
    if (reference.startsWith('ses_')) return ofUser((await sessions.find(reference))?.userId);
    return enrollments.ofSubject(reference);
  }

  return async ({ of: reference = '', customer, limit, after }: FindUsers): Promise<Enrollment[]> => {
    const found = customer
      ? await enrollments.ofCustomer(customerHash(customer))
      : await enrollmentsOf(reference);
    const sorted = found.toSorted(newestFirst);
    // Without `after`, no id is equal to it, and the page begins at 0.
    const first = sorted.findIndex(({ _id }) => _id === after) + 1;
    if (after !== undefined && first === 0)
      throw new ApiError('not_found', { description: `No enrollment ${after} among those found` });
    return sorted.slice(first, first + limit);
  };
}
