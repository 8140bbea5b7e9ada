import { isDeepStrictEqual } from 'node:util';
import {
  type CreateIntegration,
  type ListIntegrations,
  mostShops,
  type RotateIntegrationSecret,
  type UpdateIntegration,
} from '../../contracts/admin/integrations.ts';
import type { Total, Unpaged } from '../../contracts/admin/references.ts';
import { changedList } from '../platform/admin-api/changed-list.ts';
import { createGroupCommit } from '../platform/batching/group-commit.ts';
import { type Actor, type AuditEntry, auditEntry } from '../platform/database/audit-entry.ts';
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
  ) => Promise<{ client: Pick<Integration, 'partnerId' | 'mode'> & { kind: string } } | undefined>;
}

/** An integration and its new secret. The secret is shown only once. */
export interface FreshIntegration {
  integration: Integration;
  integrationSecret: string;
}

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
  async function newSecret() {
    const integrationSecret = randomSecret('integrationSecret');
    const sealedSecret = await sealing.seal(integrationSecret);
    return { integrationSecret, stored: { sealedSecret, last4: integrationSecret.slice(-4) } };
  }

  /** Returns the audit entry of a change of an integration. */
  function auditEntryOf(
    actor: Actor,
    target: string,
    changed: Pick<AuditEntry, 'before' | 'after'>,
  ): AuditEntry {
    return auditEntry(actor, { id: target, at: clock.now() }, changed);
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
      const _id = randomId('integration');
      const fields = { partnerId, clientId, mode, status: 'active' as const, shops, secretVersion: 1 };
      const integration = await store.insert(
        { _id, ...fields, ...stored, createdAt: new Date(clock.now()) },
        auditEntryOf(actor, _id, { after: fields }),
      );
      return { integration, integrationSecret };
    },

    show: store.get,

    list: ({ partnerId, clientId, mode, status, ...page }: ListIntegrations): Promise<Integration[]> =>
      store.list({ partnerId, clientId, mode, status }, page),

    count: ({ partnerId, clientId, mode, status }: Unpaged<ListIntegrations>): Promise<Total> =>
      store.count({ partnerId, clientId, mode, status }),

    /** Adds and removes shops. The secret does not change. */
    update: (
      { integrationId, addShops, removeShops }: UpdateIntegration,
      actor: Actor,
    ): Promise<Integration> =>
      store.change(integrationId, ({ status, shops: before }) => {
        if (status === 'disabled')
          throw new ApiError('conflict', { description: `Integration ${integrationId} is disabled` });
        const change = { add: addShops, remove: removeShops };
        const shops = changedList(before, change, { noun: 'shop', most: mostShops });
        if (isDeepStrictEqual(shops, before)) return undefined;
        const entry = auditEntryOf(actor, integrationId, { before: { shops: before }, after: { shops } });
        return { set: { shops }, entry };
      }),

    /** Makes a new secret. The old secret becomes invalid after `keepOldSeconds`, which may be 0. */
    async rotateSecret(
      { integrationId: id, keepOldSeconds }: RotateIntegrationSecret,
      actor: Actor,
    ): Promise<FreshIntegration> {
      const { integrationSecret, stored } = await newSecret();
      const integration = await store.change(id, (current) => {
        const { status, secretVersion, last4 } = current;
        if (status === 'disabled')
          throw new ApiError('conflict', { description: `Integration ${id} is disabled` });
        const now = clock.now();
        const next = { secretVersion: secretVersion + 1 };
        // The new secret was never used.
        const set = { ...next, ...stored, lastUsedAt: undefined, rotatedAt: new Date(now) };
        const before = { secretVersion, last4 };
        if (keepOldSeconds === 0)
          return {
            set: { ...set, oldSecret: undefined },
            entry: auditEntryOf(actor, id, { before, after: next }),
          };
        const oldSecret = oldSecretOf(current, now, keepOldSeconds);
        const after = { ...next, keepOldSeconds };
        return { set: { ...set, oldSecret }, entry: auditEntryOf(actor, id, { before, after }) };
      });
      return { integration, integrationSecret };
    },

    disable: (id: string, actor: Actor): Promise<Integration> =>
      store.change(id, ({ status }) => {
        if (status === 'disabled') return undefined;
        const set = { status: 'disabled' as const };
        return { set, entry: auditEntryOf(actor, id, { before: { status }, after: set }) };
      }),

    /** Finds an integration by its id. Simultaneous calls share one read. */
    find: createGroupCommit({ run: (ids: readonly string[]) => store.findAll(ids) }),

    /** Whether a client has an active integration. */
    async hasActive(clientId: string): Promise<boolean> {
      return (await store.list({ clientId, status: 'active' }, { limit: 1 })).length > 0;
    },
  };
}
