import { createGroupCommit } from '../platform/batching/group-commit.ts';
import type { Clock } from '../platform/clock.ts';
import type { AuditEntry } from '../platform/database/audit/audit-entry.ts';
import type { EventDraft, Publish, Sweep } from '../platform/database/event-draft.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { isVerifiedAccess, type LedgerEntry, type LedgerPage } from './ledger/ledger-page.ts';
import { type LedgerStore, unpublishedRead } from './ledger/ledger-store.ts';

interface Settings {
  store: Pick<LedgerStore, 'unpublished' | 'markPublished'>;
  publish: Publish;
  /** Adds entries to the audit log. Idempotent. */
  record: (entries: readonly AuditEntry[]) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'warn'>;
}

/** How long the process that wrote a page may take to publish it before the sweep does, in milliseconds. */
const gracePeriodMs = 10_000;
const mostPagesPerSweep = 500;
/**
 * Pages are published in batches. A batch begins after `ms` milliseconds, or when it has `items` pages. Pages that are written
 * during a batch are the next one, so under load batches are large without a long wait.
 */
const flushAfter = { ms: 2, items: 32 };

/** Returns the events of an entry. An entry whose user was erased has no events. */
function eventsOf(entry: LedgerEntry): EventDraft[] {
  const { id, at, grant, traceparent } = entry;
  if (!grant || !isVerifiedAccess(entry)) return [];
  const { partnerId, mode, keyId, clientId, sub, claims, sessionId, enrollmentId } = grant;
  const about = { sessionId, enrollmentId, sub };
  const fields = { user_id: sub, claims, resolved_at: at.toISOString() };
  const trace = traceparent ? { traceparent } : {};
  return [
    { type: 'vae.resolved', cause: [id], partnerId, mode, keyId, clientId, about, at, fields, ...trace },
  ];
}

/**
 * Writes the events and audit entries of a page after the response, and then removes the page's mark `unpublished`. Idempotent.
 * The sweep publishes pages that a crash left unpublished.
 */
export function createPublishing({ store, publish, record, clock, logger }: Settings) {
  const publications = new Set<Promise<unknown>>();

  const publishPage = createGroupCommit<LedgerPage, undefined>({
    flushAfter,
    async run(pages) {
      const entries = pages.flatMap((page) => page.entries);
      await publish(entries.flatMap(eventsOf));
      const auditEntries = entries.flatMap(({ memo }) => memo?.audit ?? []);
      if (auditEntries.length > 0) await record(auditEntries);
      await store.markPublished(pages);
      return pages.map(() => undefined);
    },
  });

  const writtenBefore = () => new Date(clock.now() - gracePeriodMs);
  const sweep: Sweep = {
    name: 'ledger events',
    look: () => ({ reads: [unpublishedRead(writtenBefore())] }),
    async sweep() {
      const pages = await store.unpublished(writtenBefore(), mostPagesPerSweep);
      const results = await Promise.allSettled(pages.map(publishPage));
      for (const result of results) {
        if (result.status === 'rejected')
          logger.warn({ err: result.reason }, 'a ledger page is not published yet');
      }
    },
  };

  return {
    sweep,

    /** Begins to publish a page that was just written, and does not wait for it. */
    publishInBackground(page: LedgerPage): void {
      if (!page.unpublished) return;
      const publication = publishPage(page).catch((error: unknown) => {
        logger.warn({ err: error, page: page._id }, 'publishing is left to the sweep');
      });
      publications.add(publication);
      void publication.finally(() => publications.delete(publication));
    },

    /** Resolves when the publications in progress have ended. Call this when the process stops. */
    async drain(): Promise<void> {
      await Promise.all(publications);
    },
  };
}
