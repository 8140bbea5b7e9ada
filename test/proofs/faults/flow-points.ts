import { type MessagePoint, pointsAt, writing } from './message-points.ts';

const moved = (event: string) => writing('sessions', new RegExp(`"event":"${event}"`));

/** The points of every write of a hosted flow, and of the events that follow from it. */
export const flowPoints: readonly MessagePoint[] = pointsAt({
  start: moved('started'),
  consent: moved('consented'),
  authenticate: moved('authenticated'),
  verify: moved('verified'),
  complete: moved('completed'),
  user: writing('users', /"identity":/),
  claims: writing('users', /"evaluatedAt":/),
  enrollment: writing('enrollments', /"consentedClaims":/),
  event: writing('events'),
  delivery: writing('deliveries', /"eventId":/),
  published: writing('sessions', /"outbox":\[\]/),
});
