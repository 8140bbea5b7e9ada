import { LRUCache } from 'lru-cache';
import {
  type Access,
  type BillableKind,
  type Cause,
  type Charged,
  type Charging,
  type Order,
  type PastCharge,
  type Prices,
  pricesAt,
} from '../../contracts/charge.ts';
import { atMost } from '../platform/batching/cache-size.ts';
import type { Clock } from '../platform/clock.ts';
import { deriveId } from '../platform/ids.ts';
import { cacheSizes } from './ledger/cache-sizes.ts';
import { type LedgerEntry, opposite, walletIdOf } from './ledger/ledger-page.ts';
import type { LedgerStore } from './ledger/ledger-store.ts';
import type { LedgerWriter } from './ledger/ledger-writer.ts';
import { isBillable } from './ledger/wallet-rules.ts';
import { refusalOf, rehearsedRefusal } from './refusals.ts';
import type { RevocationStore } from './revocation-store.ts';

interface Settings {
  writer: Pick<LedgerWriter, 'write'>;
  store: Pick<LedgerStore, 'findEntry' | 'findDurableEntry'>;
  revocations: Pick<RevocationStore, 'has' | 'add'>;
  clock: Pick<Clock, 'now'>;
  idKey: Uint8Array;
  /** The price of a billable event in cents, for partners without an individual price. */
  standardPrice: number;
}

/** Returns the price of one billable event in cents. @param prices those of `pricesAt` */
export const priceOf = (kind: BillableKind, prices: Prices | undefined, standard: number): number =>
  prices?.[kind] ?? standard;

/** Returns the access that an entry grants; undefined if the entry is not a charge, or if its grant was removed. */
function accessOf({ id, kind, at, grant }: LedgerEntry): Access | undefined {
  if (!grant || !isBillable(kind)) return undefined;
  const { salt: _salt, ...access } = grant;
  return { id, kind, at, ...access };
}

/** Makes charges and finds the accesses that they grant, for the billable endpoints. */
export function createCharges(settings: Settings) {
  const { writer, store, revocations, clock, idKey, standardPrice } = settings;

  /** Accesses by charge id. They never change, so they can be cached. Revocations are read each time. */
  const cachedAccesses = new LRUCache<string, Access>(atMost(cacheSizes.accesses));

  const chargeIdOf = (cause: string) => deriveId(idKey, 'entry', ['charge', cause]);

  async function toPastCharge(entry: LedgerEntry): Promise<PastCharge> {
    const { id, at } = entry;
    const access = accessOf(entry);
    return { id, at, revoked: await revocations.has(id), ...(access && { access }) };
  }

  async function findPastCharge({ partnerId, mode, cause }: Cause): Promise<PastCharge | undefined> {
    const key = { walletId: walletIdOf(partnerId, mode), id: chargeIdOf(cause) };
    const entry = await store.findDurableEntry(key);
    return entry && toPastCharge(entry);
  }

  const charging: Charging = {
    past: findPastCharge,

    async charge<T>(order: Order, answer: (access: Access) => T): Promise<Charged<T>> {
      const { kind, cause, signal, traceparent } = order;
      const { lifetimeSeconds, rehearse: rehearsal, ...terms } = order.terms;
      const { partnerId, mode } = terms;
      const id = chargeIdOf(cause);
      const prices = order.prices && pricesAt(order.prices, clock.now());
      if (rehearsal && mode === 'test') {
        // Callers learn of a used code before any refusal, as with other users.
        const earlier = await findPastCharge({ partnerId, mode, cause });
        if (earlier) return { outcome: 'used', past: earlier };
        throw rehearsedRefusal(rehearsal, kind, clock.now());
      }

      let prepared: { entry: LedgerEntry; access: Access; answer: T } | undefined;
      /** Makes the caller's answer from the entry that grants the access. The ledger writer calls it during the insert. */
      const prepare = (entry: LedgerEntry) => {
        const access = accessOf(entry);
        if (!access) throw new Error('a charge without a grant'); // cannot happen: the posting has a grant
        prepared = { entry, access, answer: answer(access) };
        return prepared;
      };
      const written = await writer.write(
        {
          walletId: walletIdOf(partnerId, mode),
          id,
          kind,
          amount: opposite(priceOf(kind, prices, standardPrice)),
          grant: { terms, lifetimeSeconds },
          traceparent,
        },
        { signal, onPlaced: prepare },
      );
      if (written.outcome === 'written') {
        // The charge may have moved to a later page after its answer was prepared. The answer must have the time of that page.
        const final = prepared?.entry === written.entry ? prepared : prepare(written.entry);
        cachedAccesses.set(id, final.access);
        return { outcome: 'charged', answer: final.answer };
      }
      if (written.outcome === 'used') return { outcome: 'used', past: await toPastCharge(written.entry) };
      throw refusalOf(written);
    },
  };

  return {
    ...charging,

    idOf: chargeIdOf,

    /** Returns an access of a partner and mode, unless it was revoked. The caller checks whether it has expired. */
    async access({ partnerId, mode }: Omit<Cause, 'cause'>, id: string): Promise<Access | undefined> {
      const walletId = walletIdOf(partnerId, mode);
      const load = async () => {
        const entry = await store.findEntry({ walletId, id });
        return entry && accessOf(entry);
      };
      const cached = cachedAccesses.get(id);
      const [access, revoked] = await Promise.all([cached ?? load(), revocations.has(id)]);
      if (revoked || !access) return undefined;
      cachedAccesses.set(id, access);
      return access;
    },

    /** Ends the access of a token. Idempotent. */
    revoke: (id: string): Promise<void> => revocations.add([id], new Date(clock.now()), 'token'),
  };
}
export type Charges = ReturnType<typeof createCharges>;
