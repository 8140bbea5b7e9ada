import { claimNames } from '../../../contracts/claims.ts';
import { masked, seesPeople } from '../../platform/admin-api/personal-data.ts';
import type { Role } from '../../platform/admin-api/roles.ts';
import { withoutQuery } from '../../platform/telemetry/masked-address.ts';
import type { Attempt, Delivery, StoredEvent } from '../delivery/delivery.ts';

/** Whether the body of an event contains personal data. */
export const hasPersonalData = (body: string): boolean => /"(user_id|claims)":/.test(body);

const maskedValues = (claims: unknown) =>
  Object.fromEntries(Object.keys(claims ?? {}).map((name) => [name, masked]));

/** Returns the JSON of an event without the subject and the values of claims, in the same order. */
const maskedBody = (body: string): string =>
  JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    if (name === 'user_id') return masked;
    return name === 'claims' ? maskedValues(value) : value;
  });

export function visibleEvent(role: Role, event: StoredEvent): StoredEvent {
  if (seesPeople(role)) return event;
  const subject = event.sub === undefined ? {} : { sub: masked };
  return { ...event, ...subject, body: maskedBody(event.body) };
}

/** Matches the names of personal fields of events. */
const personal = new RegExp(['user_id', 'claims', ...claimNames].join('|'), 'i');

/**
 * A delivery as an operator of this role may see it. A receiver may repeat the request in its response and in the query of a
 * redirect, so personal data are also removed there. The subject stays, because no view of a delivery has it.
 */
export function visibleDelivery(role: Role, delivery: Delivery): Delivery {
  if (seesPeople(role)) return delivery;
  const { sub } = delivery;
  const repeats = (answer: string) => personal.test(answer) || (sub !== undefined && answer.includes(sub));
  function visibleAttempt(attempt: Attempt): Attempt {
    const visible = { ...attempt };
    if (attempt.answer !== undefined && repeats(attempt.answer)) visible.answer = masked;
    if (attempt.location !== undefined) visible.location = withoutQuery(attempt.location);
    return visible;
  }
  return { ...delivery, attempts: delivery.attempts.map(visibleAttempt) };
}
