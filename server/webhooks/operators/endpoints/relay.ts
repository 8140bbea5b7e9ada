import type {
  Relayed,
  RelayRequest,
  SignatureCheck,
  VerifyRequest,
} from '../../../../contracts/admin/webhooks.ts';
import { ApiError } from '../../../platform/errors.ts';
import type { OperatorsContext } from '../../context.ts';
import { attemptHeaders } from '../../egress/signature.ts';
import { checkSignature } from './diagnose-signature.ts';
import { createRequireEndpoint } from './required-endpoint.ts';

const pageLength = 100;
/**
 * A page begins this long before the given time, because other processes may still store deliveries of that time. The caller
 * ignores deliveries that it has got before.
 */
const overlapMs = 2_000;

/** Operations with a key's signing secret. Operators see the secrets of test keys only. The methods throw ApiError. */
export function createRelay(context: OperatorsContext) {
  const { events, deliveryQueries, clock, userAgent } = context;
  const endpointOf = createRequireEndpoint(context);

  /** The event whose id is in a body, even if the rest of the body was changed. */
  async function sentEvent(body: Buffer, keyId: string) {
    const [eventId] = /evt_[0-9A-Za-z]{22}/.exec(body.toString()) ?? [];
    const event = eventId === undefined ? null : await events.find(eventId);
    if (event?.keyId !== keyId) return undefined;
    const deliveries = await deliveryQueries.ofEvents([event._id]);
    const attempts = deliveries.flatMap((delivery) => delivery.attempts);
    return { eventId: event._id, body: Buffer.from(event.body), attempts };
  }

  return {
    /** Verifies a captured request with the key's secret, and explains a failure. */
    async verify({ keyId, signature, computed, ...request }: VerifyRequest): Promise<SignatureCheck> {
      const body = Buffer.from(request.body, request.encoding);
      const [{ secret, secretVersion }, sent] = await Promise.all([
        endpointOf(keyId),
        sentEvent(body, keyId),
      ]);
      return checkSignature({ body, signature, computed, secret, secretVersion, sent });
    },

    /**
     * The deliveries of a test key since a time, signed now, for a receiver on a developer's machine. `until` is the time from
     * which to ask next. A call without `since` is the first one: it gets that time and the secret, but no deliveries.
     */
    async deliveriesSince({ keyId, since, after }: RelayRequest): Promise<Relayed> {
      const { mode, secret, secretVersion } = await endpointOf(keyId);
      if (mode === 'live')
        throw new ApiError('refused', { description: 'Events of live keys go to their URL only' });
      const at = clock.now();
      const until = new Date(at).toISOString();
      if (since === undefined)
        return { until, after: null, deliveries: [], signing: { secret, version: secretVersion } };
      const last = after === undefined ? null : await deliveryQueries.find(after);
      const from = new Date(Date.parse(since) - overlapMs);
      const found = await deliveryQueries.page(
        { keyId, createdAt: { $gte: from } },
        { limit: pageLength, after: last ?? undefined },
      );
      const bodies = await events.bodies(found.map(({ eventId }) => eventId));
      const mayHaveMore = found.length === pageLength;
      return {
        until,
        after: mayHaveMore ? (found.at(-1)?._id ?? null) : null,
        deliveries: found.map(({ _id, eventId, type }) => {
          // An event is kept as long as its deliveries, so the default is for the type only.
          const body = bodies.get(eventId) ?? '';
          // The local receiver gets each delivery once, as a first attempt.
          const signed = { eventId, type, attempt: 1, body, secret, at, userAgent };
          return { deliveryId: _id, eventId, event: type, headers: attemptHeaders(signed), body };
        }),
      };
    },
  };
}
