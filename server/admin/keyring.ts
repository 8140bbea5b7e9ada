import { z } from 'zod';
import {
  defaultLeadSeconds,
  KeyView,
  Reseal,
  Resealed,
  RetiredKey,
  RetireKey,
  RotateKey,
} from '../../contracts/admin/keyring.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import type { Clock } from '../platform/clock.ts';
import { type KeyRotation, retirableFrom } from '../platform/keys/key-rotation.ts';
import type { KeyDocument } from '../platform/keys/keyring.ts';
import type { SealedCounts } from '../platform/keys/sealed-values.ts';
import { sealedUnder } from '../platform/keys/sealing.ts';

function viewKey(key: KeyDocument, all: readonly KeyDocument[], now: number): KeyView {
  const active = all.filter((each) => each.use === key.use && each.activeAt.getTime() <= now);
  const isPending = key.activeAt.getTime() > now;
  return {
    id: key._id,
    use: key.use,
    state: isPending ? 'pending' : active.at(-1)?._id === key._id ? 'current' : 'old',
    createdAt: key.createdAt.toISOString(),
    activeAt: key.activeAt.toISOString(),
    retirableAt: retirableFrom(key, all, now)?.toISOString() ?? null,
    masterKey: sealedUnder(key.sealed),
    values: null,
  };
}

function viewMasterKeys(known: readonly string[], counts: SealedCounts): KeyView[] {
  const names = [...new Set([...known, ...counts.keys()])];
  return names.map((id) => ({
    id,
    use: 'master',
    state: id === known[0] ? 'current' : known.includes(id) ? 'old' : 'missing',
    createdAt: null,
    activeAt: null,
    retirableAt: null,
    masterKey: null,
    values: counts.get(id) ?? 0,
  }));
}

/** `svcadmin keyring …`. No answer holds a key. */
export function createKeyringProcedures(rotation: KeyRotation, clock: Pick<Clock, 'now'>) {
  return router({
    list: procedure.output(z.array(KeyView)).query(async () => {
      const keys = await rotation.list();
      const now = clock.now();
      return [
        ...keys.map((key) => viewKey(key, keys, now)),
        ...viewMasterKeys(rotation.masterKeys, await rotation.counts()),
      ];
    }),
    rotate: procedure
      .input(RotateKey)
      .output(KeyView)
      .mutation(async ({ input: { use, lead = defaultLeadSeconds[use] } }) => {
        const made = await rotation.rotate(use, lead * 1000);
        return viewKey(made, [made], clock.now());
      }),
    retire: procedure
      .input(RetireKey)
      .output(RetiredKey)
      .mutation(async ({ input: { id, compromised = false } }) => {
        const { key, replacedBy } = compromised
          ? await rotation.retireCompromised(id)
          : { key: await rotation.retire(id), replacedBy: null };
        return { ...viewKey(key, [key], clock.now()), state: 'retired', replacedBy };
      }),
    reseal: procedure
      .input(Reseal)
      .output(Resealed)
      .mutation(({ input }) => rotation.reseal(input.limit)),
  });
}
