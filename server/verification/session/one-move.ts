import type { Session } from './session.ts';
import { applied, type Transition } from './transitions.ts';

/**
 * Joins two transitions, so that both are stored in one write.
 * @param first must have no event: the joined transition has only that of the second
 * @param next returns the second transition, from the session as it is after the first
 */
export function inOneMove(
  session: Session,
  first: Transition,
  next: (session: Session) => Transition,
): Transition {
  const second = next(applied({ session, transition: first }));
  const set = { ...first.set, ...second.set };
  // One write cannot both set and remove `enrollmentDueAt`.
  if (second.isEnrollmentDone) delete set.enrollmentDueAt;
  return {
    ...second,
    set,
    carried: second.carried === undefined ? first.carried : second.carried,
    earlier: [...(first.earlier ?? []), first.entry, ...(second.earlier ?? [])],
  };
}
