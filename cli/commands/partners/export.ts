import { archiveFlags, type Reads, requireNewFile, writeArchive } from '../../archive/export.ts';
import type { AdminApi } from '../../connection/client.ts';
import { idArg } from '../../flags/ids.ts';
import { readAll } from '../../list/pages.ts';
import { AdminCommand } from '../../program/base-command.ts';
import type { ReadReason } from '../../show/related.ts';
import { readEntries } from '../../wallets/refunds.ts';

/** Reads all entries of a wallet. */
async function readWhole(api: AdminApi, wallet: { partnerId: string; mode: 'test' | 'live' }) {
  const entries = [];
  for await (const entry of readEntries(api, wallet)) entries.push(entry);
  return entries;
}

/** Everything that is kept about a partner. Secrets are not among it, because no read returns them. */
function readsOf(api: AdminApi, partnerId: string, reason: ReadReason): Reads {
  const own = { partnerId };
  const wallets = (['test', 'live'] as const).map((mode) => ({ ...own, mode }));
  return {
    partner: () => api.partners.show.query(own),
    keys: () => readAll((page) => api.keys.list.query({ ...own, ...page })),
    clients: () => readAll((page) => api.clients.list.query({ ...own, ...page })),
    integrations: () => readAll((page) => api.integrations.list.query({ ...own, ...page })),
    members: () => readAll((page) => api.members.list.query({ ...own, ...page })),
    prices: () => api.prices.show.query(own),
    limits: () => Promise.all(wallets.map((wallet) => api.limits.show.query(wallet))),
    wallets: () => Promise.all(wallets.map((wallet) => api.wallets.show.query(wallet))),
    'statement-test': () => readWhole(api, { ...own, mode: 'test' }),
    'statement-live': () => readWhole(api, { ...own, mode: 'live' }),
    enrollments: () => readAll((page) => api.enrollments.list.query({ ...own, ...page, ...reason })),
    sessions: () => readAll((page) => api.sessions.list.query({ ...own, ...page })),
    events: () => readAll((page) => api.events.list.query({ ...own, ...page })),
    deliveries: () => readAll((page) => api.deliveries.list.query({ ...own, ...page })),
    requests: () => readAll((page) => api.requests.list.query({ ...own, ...page })),
    warnings: () => readAll((page) => api.warnings.list.query({ ...own, ...page })),
    'audit-log': () => readAll((page) => api.auditLog.list.query({ partnerId, ...page })),
  };
}

export default class PartnersExport extends AdminCommand<typeof PartnersExport> {
  static override summary = 'Write everything that is kept about a partner to an archive of JSON files.';
  static override description =
    'The archive is a .tar.gz with one file for each kind of record. It has no secrets. The audit log keeps who read the users of the partner.';
  static override examples = [
    '<%= config.bin %> partners export ptr_… --out-file acme.tar.gz --reason "ticket 4711"',
  ];
  static override args = { partner: idArg('partner')({ description: 'id of the partner', required: true }) };
  static override flags = archiveFlags;

  async run() {
    const path = this.flags['out-file'];
    requireNewFile(path);
    const { id } = await this.api.partners.show.query({ partnerId: this.args.partner });
    const records = await this.readPersonalData((reason) =>
      writeArchive(path, readsOf(this.api, id, reason), (name, count) =>
        this.writeNotice(`${name}: ${count}`),
      ),
    );
    return this.showRecord({ id, outFile: path, records });
  }
}
