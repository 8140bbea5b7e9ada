import type { Mode } from '../../../contracts/identifiers.ts';
import { walletIdOf } from '../../billing/ledger/ledger-page.ts';
import type { Unpaid, UnpaidWallets } from '../../billing/wallets/context.ts';
import { distinct } from '../../platform/batching/distinct.ts';
import type { Stores } from '../stores.ts';

/**
 * Returns a function that finds the wallets whose exchanges were refused because the balance was too low. It reads the log of
 * requests, which is incomplete under load. The log has no mode, so the mode is that of the client, integration or API key.
 */
export function createUnpaidWallets({ admin, partners }: Stores) {
  return async (since: Date): Promise<UnpaidWallets> => {
    const [refusals, sampledSince] = await Promise.all([
      admin.requests.unpaid(since),
      admin.gaps.sampledSince({ since: since.toISOString(), status: '402' }),
    ]);
    const [clients, integrations, keys] = await Promise.all([
      partners.clients.findAll(distinct(refusals.map(({ clientId }) => clientId))),
      partners.integrations.findAll(distinct(refusals.map(({ integrationId }) => integrationId))),
      partners.keys.findAll(distinct(refusals.map(({ keyId }) => keyId))),
    ]);
    const modes = new Map<string, Mode>();
    for (const record of [...clients, ...integrations, ...keys])
      if (record) modes.set(record._id, record.mode);
    const wallets = new Map<string, Unpaid>();
    for (const { partnerId, clientId = '', integrationId = '', keyId = '', count, lastAt } of refusals) {
      const mode = modes.get(clientId) ?? modes.get(integrationId) ?? modes.get(keyId);
      if (partnerId === undefined || mode === undefined) continue;
      const walletId = walletIdOf(partnerId, mode);
      // A wallet has several refusals if several of its clients, integrations or keys were refused.
      const earlier = wallets.get(walletId);
      const latest = Math.max(lastAt.getTime(), earlier?.lastAt.getTime() ?? 0);
      wallets.set(walletId, { count: (earlier?.count ?? 0) + count, lastAt: new Date(latest) });
    }
    return { wallets, sampledSince };
  };
}
