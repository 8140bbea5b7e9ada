import type { FindUsers } from '../../../contracts/admin/users.ts';
import { ApiError } from '../../platform/errors.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';

interface Dependencies {
  enrollments: Pick<EnrollmentStore, 'find' | 'ofUser' | 'ofSubject' | 'ofCustomer'>;
  sessions: Pick<SessionStore, 'find'>;
  /** What is kept of a shop's customer in place of its id. */
  customerHash: (customer: { clientId: string; shop: string; customerId: string }) => string;
}

const newestFirst = (one: Enrollment, other: Enrollment): number =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one._id < other._id ? 1 : -1);

/** Finds people by whatever support has of them: their enrollments, newest first. */
export function createUserSearch({ enrollments, sessions, customerHash }: Dependencies) {
  async function userOf(reference: string): Promise<string | undefined> {
    if (reference.startsWith('usr_')) return reference;
    if (reference.startsWith('enr_')) return (await enrollments.find(reference))?.userId;
    return (await sessions.find(reference))?.userId;
  }

  async function named(reference: string): Promise<Enrollment[]> {
    if (!/^(usr|enr|ses)_/.test(reference)) return enrollments.ofSubject(reference);
    const userId = await userOf(reference);
    return userId === undefined ? [] : enrollments.ofUser(userId);
  }

  return async ({ of, customer, limit, after }: FindUsers): Promise<Enrollment[]> => {
    const found = customer ? await enrollments.ofCustomer(customerHash(customer)) : await named(of ?? '');
    const sorted = found.toSorted(newestFirst);
    const last = after === undefined ? -1 : sorted.findIndex(({ _id }) => _id === after);
    if (after !== undefined && last === -1) {
      throw new ApiError('not_found', { description: `No enrollment ${after} among those found` });
    }
    return sorted.slice(last + 1, last + 1 + limit);
  };
}
