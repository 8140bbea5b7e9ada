import type { AdminApi } from '../connection/client.ts';
import type { Kind } from './identify.ts';
import {
  showClient,
  showIntegration,
  showKey,
  showMember,
  showOperator,
  showPartner,
  showWallet,
} from './parties.ts';
import type { ReadReason, Shown } from './related.ts';
import { showBulkJob, showDelivery, showEntry, showEvent, showJob, showRequest } from './traffic.ts';
import { showEnrollment, showSession, showUser } from './users.ts';

/** The functions that read a record, by kind. */
export const loaders: Readonly<
  Record<Kind, (api: AdminApi, id: string, auditReason: ReadReason) => Promise<Shown>>
> = {
  partner: showPartner,
  client: showClient,
  apiKey: showKey,
  integration: showIntegration,
  session: showSession,
  enrollment: showEnrollment,
  user: showUser,
  subject: showUser,
  passkey: showUser,
  event: showEvent,
  delivery: showDelivery,
  entry: showEntry,
  wallet: showWallet,
  request: showRequest,
  operator: showOperator,
  member: showMember,
  bulkJob: showBulkJob,
  job: showJob,
};
