import type { Db } from 'mongodb';
import type { ClientKind, ClientStatus } from '../../../contracts/admin/clients.ts';
import type { ClaimName } from '../../../contracts/claims.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { IdTokenAlg } from '../../../contracts/openid.ts';
import { readPage } from '../../platform/database/reads/pages.ts';
import { type AuditedRecord, createRecordStore, recordIndexes } from '../../platform/database/records.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { BrandPage, BrandRequest } from '../brands/brand-requests.ts';

/** An application of a partner. Its sessions and events belong to the API key `keyId`. */
export interface Client extends AuditedRecord {
  partnerId: string;
  keyId: string;
  /** The mode of the client's API key. */
  mode: Mode;
  kind: ClientKind;
  name: string;
  status: ClientStatus;
  /** The client's secrets, each as a SHA-256 hash. The present one is the first. */
  secrets: ClientSecret[];
  /** The registered redirect URIs. They are compared byte for byte. */
  redirectUris: string[];
  /** The claims that the client's sessions may ask for. */
  claims: ClaimName[];
  /** Name of the verification source, if it is not the default of the mode. The same as the first of `sources`. */
  source?: string;
  /** Names of the verification sources in order, if users may choose from several. */
  sources?: string[];
  /** The name that the hosted pages show, if it is not the partner's name. */
  brandName?: string;
  /** Color of the hosted pages, as `#rrggbb`. */
  brandColor?: string;
  /** The purpose of the answers, in the partner's words. */
  purpose?: string;
  /** A member's change of the live brand, and since when it waits for an operator. */
  brandRequest?: BrandRequest;
  brandWaitsSince?: Date;
  /** Address of the partner's privacy notice. */
  privacyUrl?: string;
  /** False if the client's users may not use passkeys. Absent means that they may. */
  passkeys?: boolean;
  maxVerificationAgeSeconds?: number;
  /** Whether the client may ask for an ID token. */
  openid?: boolean;
  /** The claims that a start with `openid` asks for if its scope has none. */
  defaultClaims?: ClaimName[];
  /** The algorithm of the client's ID tokens, if it is not RS256. */
  idTokenAlg?: IdTokenAlg;
  tokenRequestsPerMinute?: number;
  userinfoRequestsPerMinute?: number;
}

/**
 * Returns the names of the client's verification sources, in order. An empty list means the default of the mode. A client with one
 * source has only the field `source`.
 */
export const sourcesOf = ({ source, sources }: Pick<Client, 'source' | 'sources'>): readonly string[] =>
  sources ?? (source === undefined ? [] : [source]);

export interface ClientSecret {
  hash: string;
  /** The last characters, which tell secrets apart, and the creation time. Absent if an older build made the secret. */
  last4?: string;
  createdAt?: Date;
  lastUsedAt?: Date;
  expiresAt?: Date;
}

export const collection = 'clients';
export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { keyId: 1, createdAt: -1, _id: -1 } },
  // For searches by the host of a redirect URI, a whole secret, or the last characters of a secret.
  { collection, key: { redirectUris: 1 } },
  { collection, key: { 'secrets.hash': 1 } },
  { collection, key: { 'secrets.last4': 1 }, sparse: true },
  { collection, key: { brandWaitsSince: 1, _id: 1 }, sparse: true },
  // For warnings of old secrets that expire soon.
  { collection, key: { 'secrets.expiresAt': 1 }, sparse: true },
];

export type ClientStore = ReturnType<typeof createClientStore>;

export function createClientStore(db: Db) {
  const clients = db.collection<Client>(collection);
  return {
    ...createRecordStore<Client>(db, collection, 'client'),
    /** The longest waiting first. */
    brandsWaiting: (partnerId: string | undefined, page: BrandPage): Promise<Client[]> =>
      readPage(
        clients,
        { brandWaitsSince: { $exists: true }, ...(partnerId === undefined ? {} : { partnerId }) },
        { ...page, oldestFirst: true, by: 'brandWaitsSince' },
      ),
    /** Returns the client that lists a secret with this hash, which may have expired. */
    findBySecretHash: async (hash: string): Promise<Client | undefined> =>
      (await clients.findOne({ 'secrets.hash': hash })) ?? undefined,
  };
}
