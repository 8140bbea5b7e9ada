import type { Session } from './session.ts';
import { applied, type Transition } from './transitions.ts';

/**
 * Two transitions in one move.
 * @param next from the session after the first one, which must have no event
 */
export function inOneMove(
  session: Session,
  first: Transition,
  next: (session: Session) => Transition,
): Transition {
  const second = next(applied({ session, transition: first }));
  const { enrollmentDueAt, ...set } = { ...first.set, ...second.set };
  return {
    ...second,
    set: second.enrolled || !enrollmentDueAt ? set : { ...set, enrollmentDueAt },
    carried: second.carried === undefined ? first.carried : second.carried,
    earlier: [...(first.earlier ?? []), first.entry, ...(second.earlier ?? [])],
  };
}
