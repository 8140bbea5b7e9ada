import type { Db } from 'mongodb';
import { hmac, sameText } from '../../platform/ids.ts';

/** A page up to which a wallet's ledger was found in order. */
export interface Checkpoint {
  /** The wallet's id. */
  _id: string;
  n: number;
  /** Of page `n`. */
  digest: string;
  auditedAt: Date;
  /** HMAC of the rest: who can write to the database alone cannot move a checkpoint. */
  seal: string;
}

/** The `ledgerCheckpoints` collection: what the last audit of each wallet found in order. */
export function createCheckpointStore(db: Db) {
  const checkpoints = db.collection<Checkpoint>('ledgerCheckpoints');
  const sealOf = ({ _id, n, digest, auditedAt }: Omit<Checkpoint, 'seal'>, key: Uint8Array) =>
    hmac(key, JSON.stringify(['checkpoint', _id, n, digest, auditedAt]));

  return {
    /** @returns undefined where there is none; `forged` where its seal does not match */
    async find(walletId: string, key: Uint8Array): Promise<Checkpoint | 'forged' | undefined> {
      const found = await checkpoints.findOne({ _id: walletId });
      if (!found) return undefined;
      return sameText(found.seal, sealOf(found, key)) ? found : 'forged';
    },

    async remove(walletId: string): Promise<void> {
      await checkpoints.deleteOne({ _id: walletId });
    },

    async save(checkpoint: Omit<Checkpoint, 'seal'>, key: Uint8Array): Promise<void> {
      const sealed = { ...checkpoint, seal: sealOf(checkpoint, key) };
      await checkpoints.replaceOne({ _id: checkpoint._id }, sealed, { upsert: true });
    },
  };
}
export type CheckpointStore = ReturnType<typeof createCheckpointStore>;
