import type { FindUsers } from '../../../contracts/admin/users.ts';
import { ApiError } from '../../platform/errors.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';

interface Dependencies {
  enrollments: Pick<EnrollmentStore, 'find' | 'ofUser' | 'ofSubject' | 'ofCustomer'>;
  sessions: Pick<SessionStore, 'find'>;
  /** The keyed hash of a shop's customer id, which is stored in its place. */
  customerHash: (customer: { clientId: string; shop: string; customerId: string }) => string;
}

const newestFirst = (one: Enrollment, other: Enrollment): number =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one._id < other._id ? 1 : -1);

/** Finds enrollments of users, newest first, by a customer of a shop or any id that support knows. */
export function createUserSearch({ enrollments, sessions, customerHash }: Dependencies) {
  async function userIdOf(reference: string): Promise<string | undefined> {
    if (reference.startsWith('usr_')) return reference;
    if (reference.startsWith('enr_')) return (await enrollments.find(reference))?.userId;
    return (await sessions.find(reference))?.userId;
  }

  async function enrollmentsOf(reference: string): Promise<Enrollment[]> {
    if (!/^(usr|enr|ses)_/.test(reference)) return enrollments.ofSubject(reference);
    const userId = await userIdOf(reference);
    return userId === undefined ? [] : enrollments.ofUser(userId);
  }

  return async ({ of, customer, limit, after }: FindUsers): Promise<Enrollment[]> => {
    const found = customer
      ? await enrollments.ofCustomer(customerHash(customer))
      : await enrollmentsOf(of ?? '');
    const sorted = found.toSorted(newestFirst);
    const last = after === undefined ? -1 : sorted.findIndex(({ _id }) => _id === after);
    if (after !== undefined && last === -1) {
      throw new ApiError('not_found', { description: `No enrollment ${after} among those found` });
    }
    return sorted.slice(last + 1, last + 1 + limit);
  };
}
