import type { Db } from 'mongodb';
import type { KeyStatus } from '../../../contracts/admin/keys.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { JointRead } from '../../platform/database/reads/joint-reads.ts';
import {
  type AuditedRecord,
  createFindTogether,
  createRecordStore,
  recordIndexes,
} from '../../platform/database/records.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { SealedField } from '../../platform/keys/sealed-values.ts';

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

/** The pause at a time, in milliseconds since the epoch. A pause that has ended may still be stored, and counts as none. */
export const pauseAt = (now: number, { pause }: Pick<ApiKey, 'pause'>): ApiKey['pause'] =>
  pause && pause.until.getTime() > now ? pause : undefined;

export interface OldKeySecret {
  hash: string;
  last4: string;
  expiresAt: Date;
  lastUsedAt?: Date;
}

export const collection = 'apiKeys';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  // For authentication.
  { collection, key: { hash: 1 }, unique: true },
  { collection, key: { 'oldSecrets.hash': 1 }, sparse: true },
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { last4: 1 } },
  { collection, key: { 'oldSecrets.last4': 1 }, sparse: true },
  { collection, key: { 'webhook.last4': 1 }, sparse: true },
  { collection, key: { 'webhook.next.last4': 1 }, sparse: true },
  // For warnings of old secrets that expire soon.
  { collection, key: { 'oldSecrets.expiresAt': 1 }, sparse: true },
  { collection, key: { 'pause.until': 1 }, sparse: true },
];

/** The place of an encrypted secret. `counted`: encrypting it with a new master key also increases the record's `revision`. */
const sealed = (field: string): SealedField => ({ collection, field, counted: true });
export const sealedSigningSecret = sealed('webhook.sealedSecret');
export const sealedPreparedSecret = sealed('webhook.next.sealedSecret');
export const sealedFields: SealedField[] = [sealedSigningSecret, sealedPreparedSecret];

export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(db: Db, read: JointRead) {
  const keys = db.collection<ApiKey>(collection);

  return {
    ...createRecordStore<ApiKey>(db, collection, 'API key'),
    findTogether: createFindTogether<ApiKey>(read, collection),

    /** Returns the keys in the order of `hashes`; undefined for a hash that no key has as current or old secret. */
    async findByHashes(hashes: readonly string[]): Promise<(ApiKey | undefined)[]> {
      const found = await keys.find({ hash: { $in: [...hashes] } }).toArray();
      const byHash = new Map(found.map((key) => [key.hash, key]));
      // Few programs still send an old secret, so most calls do not need the second query.
      const notCurrent = hashes.filter((hash) => !byHash.has(hash));
      if (notCurrent.length > 0) {
        const rotated = await keys.find({ 'oldSecrets.hash': { $in: notCurrent } }).toArray();
        for (const key of rotated) {
          for (const { hash } of key.oldSecrets ?? []) byHash.set(hash, key);
        }
      }
      return hashes.map((hash) => byHash.get(hash));
    },

    /** Returns those of the keys that are paused, each with the end of its pause. @param now milliseconds since the epoch */
    async pauses(ids: readonly string[], now: number): Promise<Map<string, Date>> {
      const paused = { _id: { $in: [...ids] }, 'pause.until': { $gt: new Date(now) } };
      const found = await keys.find(paused, { projection: { pause: 1 } }).toArray();
      return new Map(found.flatMap(({ _id, pause }) => (pause ? [[_id, pause.until] as const] : [])));
    },

    /**
     * Returns the statuses in the order of `ids`; undefined for a key that does not exist. The round trip is shared with
     * simultaneous reads of other collections.
     */
    async statuses(ids: readonly string[]): Promise<(KeyStatus | undefined)[]> {
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
