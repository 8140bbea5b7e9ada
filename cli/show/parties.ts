import type { AdminApi } from '../connection/client.ts';
import { daysLeftNote, formatCents } from '../flags/amounts.ts';
import { mostRowsPerList, related, type Shown } from './related.ts';

const modes = ['test', 'live'] as const;

export async function showPartner(api: AdminApi, partnerId: string): Promise<Shown> {
  const page = { partnerId, limit: mostRowsPerList };
  const [record, keys, clients, integrations, ...wallets] = await Promise.all([
    api.partners.show.query({ partnerId }),
    api.keys.list.query(page),
    api.clients.list.query(page),
    api.integrations.list.query(page),
    ...modes.map((mode) => api.wallets.show.query({ partnerId, mode })),
  ]);
  return {
    record,
    related: [
      ...keys.flatMap(({ id, mode, status, last4 }) =>
        related('API key', id, `${mode}, ${status}, …${last4}`),
      ),
      ...clients.flatMap(({ id, mode, status, name }) =>
        related('client', id, `${mode}, ${status}, ${name}`),
      ),
      ...integrations.flatMap(({ id, status, shops }) =>
        related('integration', id, `${status}, ${shops.join(' ')}`),
      ),
      ...wallets.flatMap(({ mode, balance, spentPerDay }) =>
        related(
          'wallet',
          `${partnerId}:${mode}`,
          `${formatCents(balance)} USD${daysLeftNote(balance, spentPerDay)}`,
        ),
      ),
    ],
    next: [
      `sessions list --partner ${partnerId}`,
      `requests list --partner ${partnerId} --status 4xx`,
      `deliveries list --partner ${partnerId} --status failed`,
    ],
  };
}

/** What stops a client or an integration, although its own status is `active`: sentences, and the commands that help. */
async function whatStops(
  api: AdminApi,
  { partnerId, keyId, clientId }: { partnerId: string; keyId?: string; clientId: string },
): Promise<{ lines: string[]; next: string[] }> {
  const [partner, key] = await Promise.all([
    api.partners.show.query({ partnerId }),
    keyId === undefined ? undefined : api.keys.show.query({ keyId }),
  ]);
  const lines: string[] = [];
  const next: string[] = [];
  if (partner.status === 'suspended' || partner.status === 'closed') {
    lines.push(`It does not work: its partner is ${partner.status}.`);
    next.push(`partners activate ${partnerId}`);
  }
  if (key?.status === 'revoked') {
    lines.push(`It does not work: its API key ${key.id} is revoked.`);
    next.push(`clients update ${clientId} --key KEY`);
  }
  return { lines, next };
}

export async function showClient(api: AdminApi, clientId: string): Promise<Shown> {
  const [record, integrations] = await Promise.all([
    api.clients.show.query({ clientId }),
    api.integrations.list.query({ clientId, limit: mostRowsPerList }),
  ]);
  const stop = await whatStops(api, { ...record, clientId });
  return {
    record,
    lines: stop.lines,
    related: [
      ...related('partner', record.partnerId),
      ...related('API key', record.keyId, 'owns its sessions and gets its events'),
      ...integrations.flatMap(({ id, status }) => related('integration', id, status)),
    ],
    next: [
      ...stop.next,
      `sessions list --client ${clientId}`,
      `requests list --partner ${record.partnerId} --client ${clientId}`,
    ],
  };
}

export async function showKey(api: AdminApi, keyId: string): Promise<Shown> {
  const [record, clients] = await Promise.all([
    api.keys.show.query({ keyId }),
    api.clients.list.query({ keyId, limit: mostRowsPerList }),
  ]);
  return {
    record,
    lines:
      record.status === 'revoked' && clients.some(({ status }) => status === 'active')
        ? ['Its clients do not work until they get another key: svcadmin clients update CLIENT --key KEY']
        : [],
    related: [
      ...related('partner', record.partnerId),
      ...clients.flatMap(({ id, status, name }) => related('client', id, `${status}, ${name}`)),
    ],
    next: [`deliveries list --key ${keyId} --status failed`, `events list --key ${keyId}`],
  };
}

export async function showIntegration(api: AdminApi, integrationId: string): Promise<Shown> {
  const record = await api.integrations.show.query({ integrationId });
  const client = await api.clients.show.query({ clientId: record.clientId });
  const stop = await whatStops(api, { ...record, keyId: client.keyId });
  const isDisabled = client.status === 'disabled';
  return {
    record,
    lines: [...stop.lines, ...(isDisabled ? ['It does not work: its client is disabled.'] : [])],
    related: [...related('partner', record.partnerId), ...related('client', record.clientId)],
    next: [
      ...stop.next,
      ...(isDisabled ? [`clients enable ${record.clientId}`] : []),
      `requests list --partner ${record.partnerId} --path /api/integrations`,
    ],
  };
}

export async function showMember(api: AdminApi, memberId: string): Promise<Shown> {
  const record = await api.members.show.query({ memberId });
  return {
    record,
    related: related('partner', record.partnerId, 'belongs to it'),
    next: [`audit-log list --actor ${memberId}`, `members list ${record.partnerId}`],
  };
}

export async function showOperator(api: AdminApi, operatorId: string): Promise<Shown> {
  const record = await api.operators.show.query({ operatorId });
  return { record, related: [], next: [`audit-log list --actor ${operatorId}`] };
}

export async function showWallet(api: AdminApi, walletId: string): Promise<Shown> {
  // The id of a wallet is that of its partner with the mode: `ptr_…:live`.
  const [partnerId, mode] = walletId.split(':') as [string, 'test' | 'live'];
  const [record, limits] = await Promise.all([
    api.wallets.show.query({ partnerId, mode }),
    api.limits.show.query({ partnerId, mode }),
  ]);
  const { perMinute, perHour, used } = limits;
  return {
    record: { ...record, perMinute, perHour, used },
    related: related('partner', partnerId),
    next: [`wallets statement ${partnerId} --mode ${mode} --from 7d`],
  };
}
