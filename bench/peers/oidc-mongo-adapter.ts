import type { Db } from 'mongodb';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { preparing } from './mongo-storage.ts';

interface Stored {
  _id: string;
  payload: AdapterPayload;
  expiresAt?: Date;
}

/** Models whose records can be found by their grant. */
const grantable = ['AccessToken', 'AuthorizationCode'];

/**
 * oidc-provider's storage in MongoDB, as in its own example adapter: one collection per model, the payload as a
 * subdocument, an upsert for each record, the same indexes. Records that are made within `inBulk` are written together
 * at its end.
 */
export async function createMongoAdapter(db: Db) {
  let collected: Map<string, Stored[]> | undefined;
  const indexes = ['AccessToken', 'AuthorizationCode', 'Grant', 'Interaction', 'Session'].flatMap((model) => [
    db.collection(model).createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 }),
    ...(grantable.includes(model) ? [db.collection(model).createIndex({ 'payload.grantId': 1 })] : []),
    ...(model === 'Session'
      ? [db.collection(model).createIndex({ 'payload.uid': 1 }, { unique: true })]
      : []),
  ]);
  await Promise.all(indexes);

  function adapter(model: string): Adapter {
    const records = db.collection<Stored>(model);
    const findBy = async (filter: Partial<Record<'_id' | 'payload.userCode' | 'payload.uid', string>>) =>
      (await records.findOne(filter, { projection: { payload: 1 } }))?.payload;

    return {
      async upsert(_id, payload, expiresIn) {
        const expiry = expiresIn ? { expiresAt: new Date(Date.now() + expiresIn * 1000) } : {};
        if (collected) {
          const ofModel = collected.get(model) ?? [];
          collected.set(model, ofModel);
          ofModel.push({ _id, payload, ...expiry });
          return;
        }
        await records.updateOne({ _id }, { $set: { payload, ...expiry } }, { upsert: true });
      },
      find: (_id) => findBy({ _id }),
      findByUserCode: (userCode) => findBy({ 'payload.userCode': userCode }),
      findByUid: (uid) => findBy({ 'payload.uid': uid }),
      async consume(_id) {
        await records.findOneAndUpdate(
          { _id },
          { $set: { 'payload.consumed': Math.floor(Date.now() / 1000) } },
        );
      },
      async destroy(_id) {
        await records.deleteOne({ _id });
      },
      async revokeByGrantId(grantId) {
        await records.deleteMany({ 'payload.grantId': grantId });
      },
    };
  }

  return {
    adapter,
    async inBulk<Value>(make: () => Promise<Value>): Promise<Value> {
      const models = new Map<string, Stored[]>();
      collected = models;
      const value = await make().finally(() => {
        collected = undefined;
      });
      for (const [model, records] of models) {
        await db.collection<Stored>(model).insertMany(records, preparing);
      }
      return value;
    },
  };
}
export type OidcStorage = Awaited<ReturnType<typeof createMongoAdapter>>;
