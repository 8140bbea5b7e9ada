import type { AttemptError } from '../../../contracts/webhooks.ts';
import type { Attempt, Delivery, Leased, StoredEvent } from '../../../server/webhooks/delivery/delivery.ts';
import type { DeliveryStore } from '../../../server/webhooks/delivery/delivery-store.ts';
import { idsByKey } from '../../../server/webhooks/delivery/due-store.ts';
import type { EventStore } from '../../../server/webhooks/delivery/event-store.ts';
import type { Network } from '../simulation/network.ts';
import type { Actor } from '../simulation/schedule.ts';

/** The stored documents of all processes. */
export interface Documents {
  events: Map<string, StoredEvent>;
  deliveries: Map<string, Delivery>;
}

/** Conditions of the store that a run may leave out, to show that they are needed. */
export interface StoreGuards {
  /** A result is recorded without a check of its lease. */
  withoutTokenAtRecord?: boolean;
  /** A delivery in flight may be leased once more. */
  withoutStatusAtLease?: boolean;
  /** A delivery that existed before counts as inserted under the lease of this process. */
  withoutTokenAtInsert?: boolean;
  /** A lease counts as ended as soon as it begins. */
  withoutLeaseTime?: boolean;
}

interface Settings {
  documents: Documents;
  network: Network;
  guards: StoreGuards;
}

const interrupted: AttemptError = 'interrupted';

/** The stores of a simulated process: the updates of `delivery-store.ts` on documents in memory, each behind the network. */
export function connectStores(actor: Actor, { documents, network, guards }: Settings) {
  const { events, deliveries } = documents;
  const all = () => [...deliveries.values()];
  const isDue = ({ status, nextAttemptAt }: Delivery, now: Date) =>
    status === 'pending' && nextAttemptAt !== undefined && nextAttemptAt <= now;
  const byDueTime = (one: Delivery, other: Delivery) =>
    Number(one.nextAttemptAt) - Number(other.nextAttemptAt) || (one._id < other._id ? -1 : 1);

  const read = <T>(name: string, run: () => T): Promise<T> => network.call(actor, () => name, { run });
  const write = <T>(name: string, run: (limit: number) => T, size = 1): Promise<T> =>
    network.call(actor, () => name, { run, size, write: true });

  /** Replaces a delivery in flight, if this lease holds. */
  function change({ _id, lease }: Leased, update: (stored: Delivery) => Delivery): void {
    const stored = deliveries.get(_id);
    if (stored?.lease?.token !== lease.token) return;
    const { lease: _lease, ...rest } = update(stored);
    deliveries.set(_id, rest);
  }

  /** Inserts what does not exist, as an unordered insert does. After a lost reply, it is sent once more. */
  async function insertMissing<D extends { _id: string }>(into: Map<string, D>, documents: readonly D[]) {
    const inserted = new Set<string>();
    const send = () =>
      write(
        `insert ${documents.map(({ _id }) => _id.slice(0, 8)).join(' ')}`,
        (limit) => {
          for (const document of documents.slice(0, limit)) {
            if (into.has(document._id)) continue;
            into.set(document._id, structuredClone(document));
            inserted.add(document._id);
          }
        },
        documents.length,
      );
    await send().catch(send);
  }

  const deliveryStore: Partial<DeliveryStore> = {
    insert: (documents) => insertMissing(deliveries, documents),

    async insertLeased(documents, { token }) {
      await insertMissing(
        deliveries,
        documents.map(({ body: _body, ...delivery }): Delivery => delivery),
      );
      const ids = documents.map(({ _id }) => _id);
      const isOurs = (id: string) =>
        guards.withoutTokenAtInsert || deliveries.get(id)?.lease?.token === token;
      return new Set(await read('find own', () => ids.filter(isOurs)));
    },

    due: (keyId, lane, { now, limit }) =>
      read(`due ${keyId} ${lane}`, () =>
        all()
          .filter((one) => one.keyId === keyId && one.lane === lane && isDue(one, now))
          .toSorted(byDueTime)
          .slice(0, limit)
          .map(({ _id }) => _id),
      ),

    async lease(ids, { token, now, until }) {
      await write(`lease ${ids.length}`, () => {
        for (const stored of ids.flatMap((id) => deliveries.get(id) ?? [])) {
          const isFree = isDue(stored, now) || (guards.withoutStatusAtLease && stored.status === 'in_flight');
          if (!isFree) continue;
          const { nextAttemptAt = now, ...rest } = stored;
          const row = { attempt: stored.attempt, trigger: stored.trigger, dueAt: nextAttemptAt, at: now };
          const attempts = [...stored.attempts, row];
          deliveries.set(stored._id, { ...rest, status: 'in_flight', attempts, lease: { token, until } });
        }
      });
      return read('find leased', () =>
        ids.flatMap((id): Leased[] => {
          const found = deliveries.get(id);
          if (found?.lease?.token !== token) return [];
          const body = events.get(found.eventId)?.body ?? '';
          return [structuredClone({ ...found, lease: found.lease, body })];
        }),
      );
    },

    record: (finished) =>
      write(
        `record ${finished.map(({ delivery }) => delivery._id.slice(0, 8)).join(' ')}`,
        (limit) => {
          for (const { delivery, row, verdict, at } of finished.slice(0, limit)) {
            const stored = deliveries.get(delivery._id);
            if (!stored) continue;
            const held = stored.lease?.token === delivery.lease.token;
            if (!held && !guards.withoutTokenAtRecord) continue;
            const { lease: _lease, overdue: _overdue, ...rest } = stored;
            const attempts = [...stored.attempts.slice(0, -1), row];
            const after =
              verdict.status === 'pending'
                ? { ...verdict, trigger: 'schedule' as const, lane: 'retry' as const }
                : { status: verdict.status, endedAt: at };
            deliveries.set(stored._id, { ...rest, ...after, attempts });
          }
        },
        finished.length,
      ),

    skip: (delivery, reason, at) =>
      write('skip', () =>
        change(delivery, (stored) => ({
          ...stored,
          ...{ status: 'skipped', skipped: { reason, at }, endedAt: at },
          attempts: stored.attempts.slice(0, -1),
        })),
      ),

    release: (delivery, at, overdue) =>
      write(`release ${delivery._id.slice(0, 8)}`, () =>
        change(delivery, ({ overdue: _overdue, ...stored }) => ({
          ...stored,
          ...{ status: 'pending', nextAttemptAt: at, ...(overdue && { overdue }) },
          attempts: stored.attempts.slice(0, -1),
        })),
      ),

    recover: (now) =>
      write('recover', () => {
        const ended = all().filter(
          ({ status, lease }) =>
            status === 'in_flight' && lease && (guards.withoutLeaseTime || lease.until <= now),
        );
        for (const { lease: _lease, ...stored } of ended) {
          const last = stored.attempts.at(-1) as Attempt;
          const attempts = [...stored.attempts.slice(0, -1), { ...last, error: interrupted }];
          const overdue = { since: stored.overdue?.since ?? last.dueAt };
          const again = { status: 'pending' as const, nextAttemptAt: now, trigger: 'recovery' as const };
          deliveries.set(stored._id, { ...stored, ...again, overdue, attempts });
        }
        return ended.length;
      }),

    dueByKey: (now) =>
      read('due by key', () => {
        const due = all()
          .filter((one) => isDue(one, now))
          .toSorted(byDueTime);
        return { count: due.length, byKey: idsByKey(due) };
      }),

    dueTimes: (from, before, limit) =>
      read('due times', () =>
        all()
          .filter(({ status, nextAttemptAt: at }) => status === 'pending' && at && at >= from && at < before)
          .toSorted(byDueTime)
          .slice(0, limit)
          .flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []),
      ),

    dueSeconds: (from, until) =>
      read('due seconds', () => {
        const times = all().flatMap(({ status, nextAttemptAt: at }) =>
          status === 'pending' && at && at >= from && at <= until ? Math.floor(at.getTime() / 1000) : [],
        );
        return [...new Set(times)].map((second) => new Date(second * 1000));
      }),

    forgetAnswers: async () => undefined,
  };

  const eventStore: Partial<EventStore> = { insert: (documents) => insertMissing(events, documents) };
  return { deliveries: deliveryStore as DeliveryStore, events: eventStore as EventStore };
}
