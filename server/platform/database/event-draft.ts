import type { SentName } from '../../../contracts/event-names.ts';
import type { Mode } from '../../../contracts/identifiers.ts';

/**
 * An event that follows from a change of state, written into the changed document with the change itself. What
 * follows (the event and its delivery) is an idempotent step: `cause` leads to the same event id always.
 */
export interface EventDraft {
  type: SentName;
  /** What caused it; with the type, the event's identity. */
  cause: string[];
  partnerId: string;
  mode: Mode;
  /** The API key whose webhook URL gets it. */
  keyId: string;
  /** The client whose present key gets it where that key was revoked. */
  clientId?: string;
  about: { sessionId?: string; enrollmentId?: string; sub?: string };
  at: Date;
  /** The trace of the request that caused it (W3C Trace Context); sent with its webhooks. */
  traceparent?: string;
  /** The event's own fields beyond the envelope, in the order of the contract; times as RFC 3339 text. */
  fields: Record<string, unknown>;
}

/** Stores events with their deliveries. Idempotent. Resolves when they are stored, before any is sent. */
export type Publish = (drafts: readonly EventDraft[]) => Promise<void>;

/** Finishes what a crash left behind; run every 15 s and at start, by every process with a fitting role. */
export interface Sweep {
  name: string;
  sweep(): Promise<void>;
}
