import type { Db } from 'mongodb';
import type { KeyStatus } from '../../contracts/admin/keys.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import type { JointRead } from '../platform/database/joint-reads.ts';
import {
  type AuditedRecord,
  createRecordStore,
  type RecordStore,
  recordIndexes,
} from '../platform/database/records.ts';
import type { SealedField } from '../platform/keys/sealed-values.ts';

/** An API key. It may read the sessions of its clients. Its webhook URL receives their events. */
export interface ApiKey extends AuditedRecord {
  partnerId: string;
  mode: Mode;
  status: KeyStatus;
  /** SHA-256 of the secret. */
  hash: string;
  last4: string;
  lastUsedAt?: Date;
  /** Earlier secrets that are still accepted until they expire. */
  oldSecrets?: OldKeySecret[];
  webhook?: {
    url: string;
    /** The signing secret, encrypted with the master key. */
    sealedSecret: string;
    /** The number of this secret among all signing secrets of the key. */
    secretVersion: number;
    /** The last characters of the secret, and its creation time. Absent if an older build made the secret. */
    last4?: string;
    secretAt?: Date;
    lastUsedAt?: Date;
    /** The prepared secret. It signs nothing until `switchSecret` makes it the current one. */
    next?: { sealedSecret: string; last4: string; preparedAt: Date };
    /** When the URL was set. */
    setAt: Date;
  };
  /** Set if the webhook URL also receives notices. */
  notices?: true;
  /** A pause: the events of this key are not sent before `until`. */
  pause?: { until: Date };
  /** The number of signing secrets that this key ever had. It goes on if the URL is removed and set again. */
  webhookSecrets: number;
  rotatedAt?: Date;
  revokedAt?: Date;
}

export interface OldKeySecret {
  hash: string;
  last4: string;
  expiresAt: Date;
  lastUsedAt?: Date;
}

const collection = 'apiKeys';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  // For authentication.
  { collection, key: { hash: 1 }, unique: true },
  { collection, key: { 'oldSecrets.hash': 1 }, sparse: true },
  // For lists of the keys of a partner.
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  // For searches by the last characters of a secret.
  { collection, key: { last4: 1 } },
  { collection, key: { 'oldSecrets.last4': 1 }, sparse: true },
  { collection, key: { 'webhook.last4': 1 }, sparse: true },
  { collection, key: { 'webhook.next.last4': 1 }, sparse: true },
  // For warnings of old secrets that expire soon.
  { collection, key: { 'oldSecrets.expiresAt': 1 }, sparse: true },
  // For the keys whose deliveries are paused.
  { collection, key: { 'pause.until': 1 }, sparse: true },
];

/** A field with a sealed value. `counted`: a change of it also counts in `revision`, as every change of these records. */
const sealed = (field: string): SealedField => ({ collection, field, counted: true });
export const sealedSigningSecret = sealed('webhook.sealedSecret');
export const sealedPreparedSecret = sealed('webhook.next.sealedSecret');
export const sealedFields: SealedField[] = [sealedSigningSecret, sealedPreparedSecret];

export interface KeyStore extends RecordStore<ApiKey> {
  /**
   * Returns the keys in the order of `hashes`; undefined for a hash that no key has as current or old secret. Takes one round
   * trip, and a second one for hashes that are not current.
   */
  findByHashes(hashes: readonly string[]): Promise<(ApiKey | undefined)[]>;
  /** Returns those of the keys that are paused, each with the end of its pause. @param now milliseconds since the epoch */
  pauses(ids: readonly string[], now: number): Promise<Map<string, Date>>;
  /**
   * Returns the statuses in the order of `ids`; undefined for a key that does not exist. The round trip is shared with simultaneous
   * reads of other collections.
   */
  statuses(ids: readonly string[]): Promise<(KeyStatus | undefined)[]>;
}

export function createKeyStore(db: Db, read: JointRead): KeyStore {
  const keys = db.collection<ApiKey>(collection);

  return {
    ...createRecordStore<ApiKey>(db, collection, 'API key'),

    async findByHashes(hashes) {
      const found = await keys.find({ hash: { $in: [...hashes] } }).toArray();
      const byHash = new Map(found.map((key) => [key.hash, key]));
      // Few secrets are old ones, so they are looked up only if the first query has not found them.
      const missing = hashes.filter((hash) => !byHash.has(hash));
      if (missing.length > 0) {
        const rotated = await keys.find({ 'oldSecrets.hash': { $in: missing } }).toArray();
        for (const key of rotated) for (const { hash } of key.oldSecrets ?? []) byHash.set(hash, key);
      }
      return hashes.map((hash) => byHash.get(hash));
    },

    async pauses(ids, now) {
      const paused = { _id: { $in: [...ids] }, 'pause.until': { $gt: new Date(now) } };
      const found = await keys.find(paused, { projection: { pause: 1 } }).toArray();
      return new Map(found.flatMap(({ _id, pause }) => (pause ? [[_id, pause.until] as const] : [])));
    },

    async statuses(ids) {
      const filter = { _id: { $in: [...new Set(ids)] } };
      const found = await read<Pick<ApiKey, '_id' | 'status'>>({
        collection,
        filter,
        projection: { status: 1 },
      });
      const byId = new Map(found.map(({ _id, status }) => [_id, status]));
      return ids.map((id) => byId.get(id));
    },
  };
}
