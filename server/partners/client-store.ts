import type { Db } from 'mongodb';
import type { ClientKind, ClientStatus } from '../../contracts/admin/clients.ts';
import type { ClaimName } from '../../contracts/claims.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import {
  type AuditedRecord,
  createRecordStore,
  type RecordStore,
  recordIndexes,
} from '../platform/database/records.ts';

/** An application of a partner. Its sessions and events belong to the API key `keyId`. */
export interface Client extends AuditedRecord {
  partnerId: string;
  keyId: string;
  /** The mode of its key. */
  mode: Mode;
  kind: ClientKind;
  name: string;
  status: ClientStatus;
  /** SHA-256 of each secret; those with `expiresAt` expire then. */
  secrets: ClientSecret[];
  /** Compared byte for byte. */
  redirectUris: string[];
  /** What its sessions may ask for. */
  claims: ClaimName[];
  /** Name of the verification source, where it is not the mode's own; the first of `sources`. */
  source?: string;
  /** Where users may choose from several, in order. */
  sources?: string[];
  /** What the hosted pages call the partner, where it is not the partner's own name. */
  brandName?: string;
  /** `#rrggbb`. */
  brandColor?: string;
  /** What the answers are for, in the partner's words. */
  purpose?: string;
  /** The partner's own privacy notice. */
  privacyUrl?: string;
  /** False where its users may not use passkeys. */
  passkeys?: boolean;
  maxVerificationAgeSeconds?: number;
  tokenRequestsPerMinute?: number;
  userinfoRequestsPerMinute?: number;
}

/** The names of the client's verification sources, in order; empty for that of its mode. */
export const sourcesOf = ({ source, sources }: Pick<Client, 'source' | 'sources'>): readonly string[] =>
  sources ?? (source === undefined ? [] : [source]);

export interface ClientSecret {
  hash: string;
  /** The last characters, to tell secrets apart, and when it was made; absent in those of older builds. */
  last4?: string;
  createdAt?: Date;
  lastUsedAt?: Date;
  expiresAt?: Date;
}

const collection = 'clients';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { keyId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { redirectUris: 1 } },
  { collection, key: { 'secrets.hash': 1 } },
  { collection, key: { 'secrets.last4': 1 }, sparse: true },
  { collection, key: { 'secrets.expiresAt': 1 }, sparse: true },
];

export interface ClientStore extends RecordStore<Client> {
  /** The client that has, or had until its next rotation, a secret with this hash. */
  findBySecretHash(hash: string): Promise<Client | undefined>;
}

export function createClientStore(db: Db): ClientStore {
  const clients = db.collection<Client>(collection);
  return {
    ...createRecordStore<Client>(db, collection, 'client'),
    findBySecretHash: async (hash) => (await clients.findOne({ 'secrets.hash': hash })) ?? undefined,
  };
}
