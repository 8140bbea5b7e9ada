import { z } from 'zod';
import {
  defaultLeadSeconds,
  Reseal,
  Resealed,
  RetiredKey,
  RetireKey,
  RotateServiceKey,
  ServiceKeyView,
} from '../../contracts/admin/keyring.ts';
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import { viewAs } from '../platform/admin-api/view.ts';
import type { Clock } from '../platform/clock.ts';
import { type KeyRotation, retirableFrom } from '../platform/keys/key-rotation.ts';
import type { KeyDocument } from '../platform/keys/keyring.ts';
import type { SealedCounts } from '../platform/keys/sealed-values.ts';
import { sealedUnder } from '../platform/keys/sealing.ts';

/**
 * Returns the state of a key. Of the active keys of a use, the newest is `current`: it signs or seals new values. The older keys
 * only verify or open earlier values.
 * @param all the keys of every use, the oldest first
 */
function keyState(key: KeyDocument, all: readonly KeyDocument[], now: number): ServiceKeyView['state'] {
  if (key.activeAt.getTime() > now) return 'pending';
  const newestActive = all.findLast((other) => other.use === key.use && other.activeAt.getTime() <= now);
  return newestActive?._id === key._id ? 'current' : 'old';
}

function viewKey(key: KeyDocument, all: readonly KeyDocument[], now: number): ServiceKeyView {
  return viewAs(ServiceKeyView, {
    ...key,
    id: key._id,
    state: keyState(key, all, now),
    retirableAt: retirableFrom(key, all, now),
    masterKey: sealedUnder(key.sealed),
    // Only a master key seals values that can be counted.
    values: null,
  });
}

/**
 * Lists the master keys of this process, and those under which values are sealed. This process does not have `missing` ones.
 * @param ownKeys the master keys of this process, beginning with the one that seals new values
 */
function viewMasterKeys(ownKeys: readonly string[], counts: SealedCounts): ServiceKeyView[] {
  const [current] = ownKeys;
  const stateOf = (id: string): ServiceKeyView['state'] => {
    if (id === current) return 'current';
    return ownKeys.includes(id) ? 'old' : 'missing';
  };
  return [...new Set([...ownKeys, ...counts.keys()])].map((id) =>
    viewAs(ServiceKeyView, { id, use: 'master', state: stateOf(id), values: counts.get(id) ?? 0 }),
  );
}

/** The procedures of `svcadmin keyring …`. No response contains a key. */
export function createKeyringProcedures(rotation: KeyRotation, clock: Pick<Clock, 'now'>) {
  return router({
    list: query(z.void(), z.array(ServiceKeyView), async () => {
      const keys = await rotation.list();
      const now = clock.now();
      return [
        ...keys.map((key) => viewKey(key, keys, now)),
        ...viewMasterKeys(rotation.masterKeys, await rotation.counts()),
      ];
    }),
    rotate: mutation({ target: null, record: 'none' })(
      RotateServiceKey,
      ServiceKeyView,
      async ({ use, lead = defaultLeadSeconds[use] }, actor) => {
        const newKey = await rotation.rotate(use, lead * 1000, actor);
        // This key is the newest of its use, so older keys do not change its state.
        return viewKey(newKey, [newKey], clock.now());
      },
    ),
    retire: mutation({ target: 'id', record: 'none' })(
      RetireKey,
      RetiredKey,
      async ({ id, compromised = false }, actor) => {
        const { key, replacedBy } = compromised
          ? await rotation.retireCompromised(id, actor)
          : { key: await rotation.retire(id, actor), replacedBy: null };
        // The state `retired` replaces the one that depends on the other keys.
        return { ...viewKey(key, [key], clock.now()), state: 'retired' as const, replacedBy };
      },
    ),
    reseal: mutation({ target: null, record: 'none' })(Reseal, Resealed, ({ limit }, actor) =>
      rotation.reseal(limit, actor),
    ),
  });
}
