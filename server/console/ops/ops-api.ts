import type { BulkView } from '../../../contracts/admin/bulk.ts';
import type { DeliveryView, ListedDelivery } from '../../../contracts/admin/deliveries.ts';
import type { ListedHealth } from '../../../contracts/admin/endpoint-health.ts';
import type { EndpointView, KeyView } from '../../../contracts/admin/keys.ts';
import type { PartnerView } from '../../../contracts/admin/partners.ts';
import type { ReadSchedule, ScheduleView } from '../../../contracts/admin/schedule.ts';
import type { SessionSummary, SessionView } from '../../../contracts/admin/sessions.ts';
import type { LimitsView, WalletView } from '../../../contracts/admin/wallets.ts';
import type { Mode } from '../../../contracts/identifiers.ts';

type Read<Input, Output> = (input: Input) => Promise<Output>;
interface Page {
  limit: number;
}
interface OfPartner {
  partnerId: string;
}
interface OfKey {
  keyId: string;
}
interface OfBulk {
  bulkId: string;
}
export type ScheduleFilter = Pick<ReadSchedule, 'partnerId' | 'keyId' | 'mode' | 'event'>;
type OfWallet = OfPartner & { mode: Mode };

/** The procedures of the admin API that the pages of `/ops` call. */
export interface OpsApi {
  partners: { show: Read<OfPartner, PartnerView> };
  keys: { list: Read<OfPartner & Page, KeyView[]> };
  wallets: { show: Read<OfWallet, WalletView> };
  limits: { show: Read<OfWallet, LimitsView> };
  webhooks: {
    show: Read<OfKey, EndpointView>;
    health: Read<Page & Partial<OfPartner & OfKey>, ListedHealth[]>;
  };
  deliveries: {
    list: Read<OfKey & Page, ListedDelivery[]>;
    show: Read<{ deliveryId: string }, DeliveryView>;
    schedule: Read<ScheduleFilter & Pick<ReadSchedule, 'by'> & Page, ScheduleView>;
  };
  sessions: {
    list: Read<OfPartner & Page, { rows: SessionSummary[] }>;
    show: Read<{ sessionId: string }, SessionView>;
  };
  bulk: { list: Read<Page, BulkView[]>; show: Read<OfBulk, BulkView> };
}

/** The caller of these procedures. The role ops reads no personal data, so its reads need no audit entry. */
export const opsContext = {
  operator: { id: 'ops', name: '/ops', role: 'ops' as const },
  requestId: '/ops',
  address: '',
};
