import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  CreateIntegration,
  IntegrationReference,
  IntegrationView,
  IntegrationWithSecret,
  ListedIntegration,
  ListIntegrations,
  mostShops,
  RotateIntegrationSecret,
  UpdateIntegration,
} from '../../../contracts/admin/integrations.ts';
import { OldSecret } from '../../../contracts/admin/keys.ts';
import { pageFields, Total } from '../../../contracts/admin/references.ts';
import { changedList } from '../../platform/admin-api/changed-list.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange, type Decide } from '../../platform/database/audit/audited-change.ts';
import { withPartnerName } from '../../platform/database/partner-names.ts';
import { ApiError, requireFound } from '../../platform/errors.ts';
import { randomId, randomSecret } from '../../platform/ids.ts';
import type { PartnersContext } from '../context.ts';
import { type Integration, integrationCollection, type OldIntegrationSecret } from './integration-store.ts';

const integrationMutation = mutation({ target: 'integrationId', record: integrationCollection });
const partnerMutation = mutation({ target: 'partnerId', record: integrationCollection });

const disabledError = (id: string) =>
  new ApiError('conflict', { description: `Integration ${id} is disabled` });

/** Returns the present secret as an old secret. @throws ApiError `conflict` while an earlier old secret is still accepted */
function oldSecretOf(
  { _id, sealedSecret, secretVersion, last4, lastUsedAt, oldSecret }: Integration,
  now: number,
  keepOldSeconds: number,
): OldIntegrationSecret {
  if (oldSecret && oldSecret.expiresAt.getTime() > now) {
    const until = oldSecret.expiresAt.toISOString();
    const description = `The secret of ${_id} before the present one is accepted until ${until}; rotate then, or without keeping the old ones`;
    throw new ApiError('conflict', { description });
  }
  const expiresAt = new Date(now + keepOldSeconds * 1000);
  return { sealedSecret, secretVersion, last4, expiresAt, ...(lastUsedAt ? { lastUsedAt } : {}) };
}

/** Shows an integration to operators, and its old secret while it is accepted. @param now milliseconds since the epoch */
function viewIntegration(integration: Integration, now: number): IntegrationView {
  const { oldSecret } = integration;
  const isOldAccepted = oldSecret && oldSecret.expiresAt.getTime() > now;
  return viewAs(IntegrationView, {
    ...integration,
    id: integration._id,
    oldSecret: isOldAccepted ? viewAs(OldSecret, oldSecret) : null,
  });
}

/** Manages storefront integrations. A disabled integration cannot be enabled again. */
export function createIntegrations({ stores, sealing, clock, directory, partnerNames }: PartnersContext) {
  const { integrations: store } = stores;
  const changeRecord = createAuditedChange(store, clock);
  const view = (integration: Integration) => viewIntegration(integration, clock.now());

  const change = async (id: string, actor: Actor, decide: Decide<Integration>): Promise<IntegrationView> =>
    view(await changeRecord(id, actor, decide));

  async function newSecret() {
    const integrationSecret = randomSecret('integrationSecret');
    const sealedSecret = await sealing.seal(integrationSecret);
    return { integrationSecret, stored: { sealedSecret, last4: integrationSecret.slice(-4) } };
  }

  async function requireStorefrontClient(partnerId: string, clientId: string) {
    const found = requireFound(await directory.client(clientId, { fresh: true }), `No client ${clientId}`);
    if (found.client.partnerId !== partnerId) {
      if (!(await partnerNames([partnerId])).has(partnerId))
        throw new ApiError('not_found', { description: `No partner ${partnerId}` });
      throw new ApiError('refused', { description: `Client ${clientId} belongs to another partner` });
    }
    if (found.client.kind === 'storefront') return found.client;
    throw new ApiError('refused', {
      description: `Client ${clientId} is of kind ${found.client.kind}; an integration needs one of kind storefront`,
    });
  }

  const procedures = router({
    list: query(ListIntegrations, z.array(ListedIntegration), async ({ limit, after, ...filter }) => {
      const found = await store.list(filter, { limit, after });
      return withPartnerName(found.map(view), partnerNames);
    }),

    count: query(ListIntegrations.omit(pageFields), Total, (filter) => store.count(filter)),

    show: query(IntegrationReference, IntegrationView, async ({ integrationId }) =>
      view(await store.get(integrationId)),
    ),

    create: partnerMutation(CreateIntegration, IntegrationWithSecret, async (input, actor) => {
      const { partnerId, clientId, shops } = input;
      const { mode } = await requireStorefrontClient(partnerId, clientId);
      const { integrationSecret, stored } = await newSecret();
      const id = randomId('integration');
      const now = clock.now();
      const fields = { partnerId, clientId, mode, status: 'active' as const, shops, secretVersion: 1 };
      const integration = await store.insert(
        { _id: id, ...fields, ...stored, createdAt: new Date(now) },
        auditEntry(actor, { id, at: now }, { after: fields }),
      );
      return { ...view(integration), integrationSecret };
    }),

    /** Adds and removes shops. The secret does not change. */
    update: integrationMutation(
      UpdateIntegration,
      IntegrationView,
      ({ integrationId, addShops, removeShops }, actor) =>
        change(integrationId, actor, ({ status, shops: before }) => {
          if (status === 'disabled') throw disabledError(integrationId);
          const shopList = { noun: 'shop', most: mostShops };
          const shops = changedList(before, { add: addShops, remove: removeShops }, shopList);
          if (isDeepStrictEqual(shops, before)) return undefined;
          return { set: { shops }, before: { shops: before }, after: { shops } };
        }),
    ),

    /** Makes a new secret. The old secret becomes invalid after `keepOldSeconds`, which may be 0. */
    rotateSecret: integrationMutation(
      RotateIntegrationSecret,
      IntegrationWithSecret,
      async (input, actor) => {
        const { integrationId, keepOldSeconds } = input;
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
        return { ...integration, integrationSecret };
      },
    ),

    disable: integrationMutation(IntegrationReference, IntegrationView, ({ integrationId }, actor) =>
      change(integrationId, actor, ({ status }) =>
        status === 'disabled'
          ? undefined
          : { set: { status: 'disabled' }, before: { status }, after: { status: 'disabled' } },
      ),
    ),
  });

  return {
    procedures,

    /** Finds an integration by its id. Simultaneous calls share one read. */
    find: createGroupCommit({ run: (ids: readonly string[]) => store.findAll(ids) }),

    async hasActive(clientId: string): Promise<boolean> {
      return (await store.list({ clientId, status: 'active' }, { limit: 1 })).length > 0;
    },
  };
}
