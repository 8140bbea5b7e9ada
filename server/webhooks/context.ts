import type { Mode } from '../../contracts/identifiers.ts';
import type { Clock } from '../platform/clock.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import type { Scheduler } from '../platform/jobs/scheduler.ts';
import type { Limits } from './delivery/backlog.ts';
import type { Delivery } from './delivery/delivery.ts';
import type { Due } from './delivery/due.ts';
import type { ReadEndpoint, WhyOff } from './delivery/endpoint.ts';
import type { ReadPauses, RequireKey } from './operators/endpoints/key-owner.ts';
import type { createWebhooksStores } from './store.ts';

/** What deliveries are made and changed with, by hand and by bulk jobs. */
export interface SendingContext extends ReturnType<typeof createWebhooksStores> {
  scheduler: Scheduler;
  due: Due;
  /** Stores new deliveries, and sends the due ones in this process or another one. */
  insertAndSend: (deliveries: readonly Delivery[]) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  idKey: Uint8Array;
  endpoint: ReadEndpoint;
  userAgent: string;
  limits: Limits;
  /** The fault of a webhook URL for keys of a mode; undefined if it may be used. */
  urlFault: (url: string, mode: Mode) => string | undefined;
}

/** The parts on which the procedures of operators are built. */
export interface OperatorsContext extends SendingContext {
  /** Makes this process, or another one, take the first step of a bulk job. */
  announce: (bulkId: string) => Promise<void>;
  requireKey: RequireKey;
  pauses: ReadPauses;
  /** Whether a process that sends is running. */
  hasWorker: () => Promise<boolean>;
  whyOff: WhyOff;
  /** The subject of an enrollment, by which an index finds its events; undefined if the enrollment was erased. */
  subjectOf: (enrollmentId: string) => Promise<string | undefined>;
  partnerNames: PartnerNames;
}
