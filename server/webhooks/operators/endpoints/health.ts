import type { EndpointHealth, ReadHealth } from '../../../../contracts/admin/endpoint-health.ts';
import type { OperatorsContext } from '../../context.ts';
import { type InFlight, noneInFlight, sumInFlight } from '../../delivery/delivery.ts';
import { evaluateEndpoint, worstFirst } from './endpoint-health.ts';
import type { KeyOwner } from './key-owner.ts';

/** The most endpoints that are evaluated only because they may be slow or paused. */
const mostSuspected = 50;

export type ReadEndpointHealth = (wanted: ReadHealth) => Promise<EndpointHealth[]>;

/** Reads the health of endpoints, the worst first. @throws ApiError `not_found` for a key that does not exist */
export function createEndpointHealth(context: OperatorsContext): ReadEndpointHealth {
  const { health, deliveryQueries, pauses, hasWorker, requireKey, clock, limits, whyOff } = context;

  /** The keys whose endpoints are shown: the named one, those of the named partner, or else the troubled ones. */
  async function findOwners(wanted: ReadHealth, now: Date): Promise<KeyOwner[]> {
    const { keyId, partnerId, mode } = wanted;
    if (keyId === undefined)
      return partnerId === undefined ? health.troubled(now, wanted) : health.ofPartner(partnerId, wanted);
    const owner = await requireKey(keyId);
    return mode === undefined || owner.mode === mode ? [owner] : [];
  }

  async function evaluate(owners: readonly KeyOwner[], now: Date): Promise<EndpointHealth[]> {
    const [inFlight, paused, isWorked] = await Promise.all([
      deliveryQueries.inFlight(),
      pauses(owners.map(({ keyId }) => keyId)),
      hasWorker(),
    ]);
    const sumOfLanes = ({ first, retry }: InFlight): number => first + retry;
    const allInFlight = sumOfLanes(sumInFlight(inFlight.values()));
    const evaluated: EndpointHealth[] = [];
    // One endpoint after another, so that these queries do not use all connections of the pool.
    for (const owner of owners) {
      const { keyId } = owner;
      const { count, oldest } = await health.heldBack(keyId, now);
      const facts = {
        ...owner,
        attempts: await health.attempts(keyId, now),
        queued: (await health.queued(keyId, now)) + count,
        heldBack: oldest,
        inFlight: sumOfLanes(inFlight.get(keyId) ?? noneInFlight),
        allInFlight,
        isWorked,
        pausedUntil: paused.get(keyId),
        off: await whyOff(keyId, owner.partnerId),
      };
      evaluated.push(evaluateEndpoint(facts, { limits, now: now.getTime() }));
    }
    return evaluated;
  }

  /** Evaluates the endpoints that have neither failed nor waiting deliveries, and returns those that are not `ok` all the same. */
  async function findSuspected(
    { mode }: ReadHealth,
    { known, now }: { known: readonly KeyOwner[]; now: Date },
  ): Promise<EndpointHealth[]> {
    const knownIds = new Set(known.map(({ keyId }) => keyId));
    const suspected = await health.suspected(now, { mode, limit: mostSuspected });
    const found = await evaluate(
      suspected.filter(({ keyId }) => !knownIds.has(keyId)),
      now,
    );
    return found.filter(({ state }) => state !== 'ok' && state !== 'idle');
  }

  return async (wanted) => {
    const now = new Date(clock.now());
    const owners = await findOwners(wanted, now);
    const isOfAll = wanted.keyId === undefined && wanted.partnerId === undefined;
    const others = isOfAll ? await findSuspected(wanted, { known: owners, now }) : [];
    return [...(await evaluate(owners, now)), ...others].toSorted(worstFirst).slice(0, wanted.limit);
  };
}
