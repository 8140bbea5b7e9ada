import type { Document } from 'mongodb';
import type { SentName } from '../../../contracts/events.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import type { Read } from './reads/joint-reads.ts';

/**
 * An event that follows from a change, written into the changed document together with the change. Publishing it is
 * idempotent, because the same `cause` always gives the same event id.
 */
export interface EventDraft {
  type: SentName;
  /** The cause of the event. Type and cause make the event's id. */
  cause: string[];
  partnerId: string;
  mode: Mode;
  /** The API key whose webhook URL gets the event. */
  keyId: string;
  /** If that key is revoked, the present key of this client gets the event. */
  clientId?: string;
  about: { sessionId?: string; enrollmentId?: string; sub?: string };
  at: Date;
  /** The trace of the request that caused the event (W3C Trace Context); sent with its webhooks. */
  traceparent?: string;
  /** The event's fields besides the envelope, in the order of the contract. Times are RFC 3339 text. */
  fields: Record<string, unknown>;
}

/** Stores events with their deliveries. Resolves when they are stored, before they are sent. Idempotent. */
export type Publish = (drafts: readonly EventDraft[]) => Promise<void>;

/** Reads that tell whether a sweep has work. All sweeps share one command for them. */
export interface Look {
  reads: readonly Read[];
  /** Whether the sweep has work, by the documents of each read. Default: if any read has found one. */
  isDue?: (found: readonly (readonly Document[])[]) => boolean;
}

/** Finishes work that a crash has interrupted. Processes with a suitable role run it at the start and every 15 s. */
export interface Sweep {
  name: string;
  /** What to read before the sweep. It has to find whatever the sweep would find. Without it, the sweep runs each time. */
  look?: () => Look;
  sweep(): Promise<void>;
}
