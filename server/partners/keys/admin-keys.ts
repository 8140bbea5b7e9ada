import { z } from 'zod';
import {
  CreateKey,
  KeyReference,
  KeyView,
  KeyWithSecret,
  ListedKey,
  ListKeys,
  RotateKey,
} from '../../../contracts/admin/keys.ts';
import { pageFields, Total, type Unpaged } from '../../../contracts/admin/references.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange } from '../../platform/database/audit/audited-change.ts';
import { withPartnerName } from '../../platform/database/partner-names.ts';
import type { RecordFilter } from '../../platform/database/records.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomId, randomSecret, sha256 } from '../../platform/ids.ts';
import type { PartnersContext } from '../context.ts';
import { viewKey } from '../views.ts';
import { type ApiKey, collection as keyCollection, type OldKeySecret } from './key-store.ts';
import { keptSecrets } from './secrets.ts';

const keyMutation = mutation({ target: 'keyId', record: keyCollection });
const partnerMutation = mutation({ target: 'partnerId', record: keyCollection });

function newSecret(mode: Mode) {
  const apiKey = randomSecret(mode === 'live' ? 'liveKey' : 'testKey');
  return { apiKey, stored: { hash: sha256(apiKey), last4: apiKey.slice(-4) } };
}

/** Returns the old secrets of a key after a rotation. The present secret becomes one of them. */
function oldSecretsAfter(
  { hash, last4, lastUsedAt, oldSecrets = [] }: ApiKey,
  times: { now: number; keepUntil: number },
): OldKeySecret[] {
  const presentSecret = { hash, last4, ...(lastUsedAt ? { lastUsedAt } : {}) };
  return keptSecrets<Omit<OldKeySecret, 'expiresAt'>>([presentSecret, ...oldSecrets], times, 'API key');
}

/** @throws ApiError `conflict` if the key is revoked, because a revoked key cannot be changed */
export function assertActive(key: ApiKey): void {
  if (key.status === 'revoked')
    throw new ApiError('conflict', { description: `API key ${key._id} is revoked` });
}

/** The times of a key that tell that it was made, rotated or used, or that it signed an attempt. */
const timesOfUse = ['createdAt', 'rotatedAt', 'lastUsedAt', 'oldSecrets.lastUsedAt', 'webhook.lastUsedAt'];

/** Makes the procedures of `svcadmin keys`. A key is `active` until it is revoked, which is final. */
export function createKeyProcedures({ stores, clock, partnerNames }: PartnersContext) {
  const { partners, keys: store } = stores;
  const change = createAuditedChange(store, clock);
  const view = (key: ApiKey) => viewKey(key, clock.now());

  /** The filter of a list. With `unusedSince`, neither the keys nor their clients were made or used since that time. */
  async function filterOf({ unusedSince, ...fields }: Unpaged<ListKeys>): Promise<RecordFilter<ApiKey>> {
    if (unusedSince === undefined) return fields;
    const since = new Date(unusedSince);
    const keysOfClients = await stores.keyUses.keysOfClientsUsedSince(since, fields.partnerId);
    const isUsed = timesOfUse.map((field) => ({ [field]: { $gte: since } }));
    return { ...fields, $nor: [...isUsed, { _id: { $in: keysOfClients } }] };
  }

  return router({
    list: query(ListKeys, z.array(ListedKey), async ({ limit, after, ...wanted }) => {
      // Throws `not_found` for an unknown partner, so that a wrong id is not taken for a partner without keys.
      if (wanted.partnerId) await partners.get(wanted.partnerId);
      const keys = await store.list(await filterOf(wanted), { limit, after });
      return withPartnerName(keys.map(view), partnerNames);
    }),

    count: query(ListKeys.omit(pageFields), Total, async (wanted) => store.count(await filterOf(wanted))),

    show: query(KeyReference, KeyView, async ({ keyId }) => view(await store.get(keyId))),

    create: partnerMutation(CreateKey, KeyWithSecret, async ({ partnerId, mode }, actor) => {
      // Throws `not_found` for an unknown partner.
      await partners.get(partnerId);
      const now = clock.now();
      const id = randomId('apiKey');
      const { apiKey, stored } = newSecret(mode);
      const entry = auditEntry(actor, { id, at: now }, { after: { partnerId, mode, status: 'active' } });
      const fields = { _id: id, partnerId, mode, status: 'active' as const, webhookSecrets: 0, ...stored };
      const key = await store.insert({ ...fields, createdAt: new Date(now) }, entry);
      return { ...view(key), apiKey };
    }),

    /**
     * Makes a new secret. The key keeps its id, sessions and clients. The old secret becomes invalid after `keepOldSeconds`,
     * which may be 0.
     */
    rotate: keyMutation(RotateKey, KeyWithSecret, async ({ keyId, keepOldSeconds }, actor) => {
      // The mode of a key never changes, so it can be read before the change.
      const { mode } = await store.get(keyId);
      const { apiKey, stored } = newSecret(mode);
      const key = await change(keyId, actor, (current, now) => {
        assertActive(current);
        const oldSecrets = oldSecretsAfter(current, { now, keepUntil: now + keepOldSeconds * 1000 });
        return {
          set: {
            ...stored,
            // The new secret was never used.
            lastUsedAt: undefined,
            oldSecrets: oldSecrets.length > 0 ? oldSecrets : undefined,
            rotatedAt: new Date(now),
          },
          before: { last4: current.last4 },
          after: { last4: stored.last4, ...(keepOldSeconds > 0 ? { keepOldSeconds } : {}) },
        };
      });
      return { ...view(key), apiKey };
    }),

    revoke: keyMutation(KeyReference, KeyView, async ({ keyId }, actor) => {
      const key = await change(keyId, actor, ({ status }, now) => {
        if (status === 'revoked') return undefined;
        return {
          set: { status: 'revoked', revokedAt: new Date(now) },
          before: { status },
          after: { status: 'revoked' },
        };
      });
      return view(key);
    }),
  });
}
