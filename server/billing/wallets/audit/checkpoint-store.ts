import type { Db } from 'mongodb';
import { hmac, sameText } from '../../../platform/ids.ts';

/** The last page of a wallet's ledger that an audit found correct. */
export interface Checkpoint {
  /** The wallet's id. */
  _id: string;
  n: number;
  digest: string;
  auditedAt: Date;
  /** The HMAC of the other fields. Its key is not in the database, so write access to the database cannot move a checkpoint. */
  seal: string;
}

const checkpointCollection = 'ledgerCheckpoints';

/** The collection with the last correct page of each wallet, from its last audit. */
export function createCheckpointStore(db: Db) {
  const checkpoints = db.collection<Checkpoint>(checkpointCollection);
  const sealOf = ({ _id, n, digest, auditedAt }: Omit<Checkpoint, 'seal'>, key: Uint8Array) =>
    hmac(key, JSON.stringify(['checkpoint', _id, n, digest, auditedAt]));

  return {
    /** Finds the checkpoint of a wallet. @returns undefined if there is none; `forged` if its seal does not match */
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
