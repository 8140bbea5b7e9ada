import type { Adapter, AdapterPayload } from 'oidc-provider';
import type { OidcStorage } from './oidc-mongo-adapter.ts';

/**
 * oidc-provider's storage in process memory, with one map per model. Its own memory adapter keeps only the last 1,000
 * records, less than one round needs. A new bulk starts empty, so that garbage collection does not grow from round to
 * round.
 */
export function createMemoryAdapter(): OidcStorage {
  const models = new Map<string, Map<string, AdapterPayload>>();
  /** Ids of sessions. */
  const uids = new Map<string, string>();

  function adapter(model: string): Adapter {
    const records = new Map<string, AdapterPayload>();
    models.set(model, records);
    return {
      async upsert(id, payload) {
        records.set(id, payload);
        if (model === 'Session' && payload.uid !== undefined) uids.set(payload.uid, id);
      },
      find: async (id) => records.get(id),
      findByUserCode: async () => undefined,
      async findByUid(uid) {
        const id = uids.get(uid);
        return id === undefined ? undefined : records.get(id);
      },
      async consume(id) {
        const payload = records.get(id);
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id) => void records.delete(id),
      async revokeByGrantId(grantId) {
        for (const [id, payload] of records) if (payload.grantId === grantId) records.delete(id);
      },
    };
  }

  return {
    adapter,
    inBulk(make) {
      for (const records of models.values()) records.clear();
      uids.clear();
      return make();
    },
  };
}
