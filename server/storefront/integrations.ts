import { isDeepStrictEqual } from 'node:util';
import {
  type CreateIntegration,
  type ListIntegrations,
  mostShops,
  type RotateIntegrationSecret,
  type UpdateIntegration,
} from '../../contracts/admin/integrations.ts';
import type { Total, Unpaged } from '../../contracts/admin/references.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { changedList } from '../platform/admin-api/changed-list.ts';
import { createGroupCommit } from '../platform/batching/group-commit.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import { createAuditedChange } from '../platform/database/audited-change.ts';
import type { RecordStore } from '../platform/database/records.ts';
import { ApiError } from '../platform/errors.ts';
import { randomId, randomSecret } from '../platform/ids.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { Integration, OldIntegrationSecret } from './integration-store.ts';

interface Dependencies {
  store: RecordStore<Integration>;
  sealing: Pick<Sealing, 'seal'>;
  clock: { now(): number };
  findClient: (
    id: string,
  ) => Promise<{ client: { partnerId: string; mode: Mode; kind: string } } | undefined>;
}

/** An integration and its new secret. The secret is shown only once. */
export interface FreshIntegration {
  integration: Integration;
  integrationSecret: string;
}

const disabledError = (id: string) =>
  new ApiError('conflict', { description: `Integration ${id} is disabled` });

/** Returns the present secret as an old secret. @throws ApiError `conflict` while an earlier old secret is still accepted */
function oldSecretOf(
  { _id, sealedSecret, secretVersion, last4 = '', lastUsedAt, oldSecret }: Integration,
  now: number,
  keepOldSeconds: number,
): OldIntegrationSecret {
  if (oldSecret && oldSecret.expiresAt.getTime() > now) {
    const until = oldSecret.expiresAt.toISOString();
    const description = `The secret of ${_id} before the present one is accepted until ${until}; rotate then, or without keeping the old ones`;
    throw new ApiError('conflict', { description });
  }
  const expiresAt = new Date(now + keepOldSeconds * 1000);
  // `last4` is empty if an older build made the secret.
  return { sealedSecret, secretVersion, last4, expiresAt, ...(lastUsedAt ? { lastUsedAt } : {}) };
}

export type Integrations = ReturnType<typeof createIntegrations>;

/** Makes the methods that manage storefront integrations. A disabled integration cannot be enabled again. */
export function createIntegrations({ store, sealing, clock, findClient }: Dependencies) {
  const change = createAuditedChange(store, clock);

  async function newSecret() {
    const integrationSecret = randomSecret('integrationSecret');
    const sealedSecret = await sealing.seal(integrationSecret);
    return { integrationSecret, stored: { sealedSecret, last4: integrationSecret.slice(-4) } };
  }

  async function requireStorefrontClient(partnerId: string, clientId: string) {
    const found = await findClient(clientId);
    if (!found) throw new ApiError('not_found', { description: `No client ${clientId}` });
    if (found.client.partnerId !== partnerId) {
      throw new ApiError('refused', { description: `Client ${clientId} belongs to another partner` });
    }
    if (found.client.kind === 'storefront') return found.client;
    throw new ApiError('refused', {
      description: `Client ${clientId} is of kind ${found.client.kind}; an integration needs one of kind storefront`,
    });
  }

  return {
    async create({ partnerId, clientId, shops }: CreateIntegration, actor: Actor): Promise<FreshIntegration> {
      const { mode } = await requireStorefrontClient(partnerId, clientId);
      const { integrationSecret, stored } = await newSecret();
      const id = randomId('integration');
      const now = clock.now();
      const fields = { partnerId, clientId, mode, status: 'active' as const, shops, secretVersion: 1 };
      const integration = await store.insert(
        { _id: id, ...fields, ...stored, createdAt: new Date(now) },
        auditEntry(actor, { id, at: now }, { after: fields }),
      );
      return { integration, integrationSecret };
    },

    show: store.get,

    list: ({ limit, after, ...filter }: ListIntegrations): Promise<Integration[]> =>
      store.list(filter, { limit, after }),

    count: (filter: Unpaged<ListIntegrations>): Promise<Total> => store.count(filter),

    /** Adds and removes shops. The secret does not change. */
    update: (
      { integrationId, addShops, removeShops }: UpdateIntegration,
      actor: Actor,
    ): Promise<Integration> =>
      change(integrationId, actor, ({ status, shops: before }) => {
        if (status === 'disabled') throw disabledError(integrationId);
        const shopList = { noun: 'shop', most: mostShops };
        const shops = changedList(before, { add: addShops, remove: removeShops }, shopList);
        if (isDeepStrictEqual(shops, before)) return undefined;
        return { set: { shops }, before: { shops: before }, after: { shops } };
      }),

    /** Makes a new secret. The old secret becomes invalid after `keepOldSeconds`, which may be 0. */
    async rotateSecret(
      { integrationId, keepOldSeconds }: RotateIntegrationSecret,
      actor: Actor,
    ): Promise<FreshIntegration> {
      const { integrationSecret, stored } = await newSecret();
      const integration = await change(integrationId, actor, (current, now) => {
        if (current.status === 'disabled') throw disabledError(integrationId);
        const keepsOld = keepOldSeconds > 0;
        const secretVersion = current.secretVersion + 1;
        return {
          set: {
            ...stored,
            secretVersion,
            // The new secret was never used.
            lastUsedAt: undefined,
            oldSecret: keepsOld ? oldSecretOf(current, now, keepOldSeconds) : undefined,
            rotatedAt: new Date(now),
          },
          before: { secretVersion: current.secretVersion, last4: current.last4 },
          after: { secretVersion, ...(keepsOld ? { keepOldSeconds } : {}) },
        };
      });
      return { integration, integrationSecret };
    },

    disable: (id: string, actor: Actor): Promise<Integration> =>
      change(id, actor, ({ status }) =>
        status === 'disabled'
          ? undefined
          : { set: { status: 'disabled' }, before: { status }, after: { status: 'disabled' } },
      ),

    /** Finds an integration by its id. Simultaneous calls share one read. */
    find: createGroupCommit({ run: (ids: readonly string[]) => store.findAll(ids) }),

    /** Whether a client has an active integration. */
    async hasActive(clientId: string): Promise<boolean> {
      return (await store.list({ clientId, status: 'active' }, { limit: 1 })).length > 0;
    },
  };
}
