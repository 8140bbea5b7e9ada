import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { EventDraft } from '../../platform/database/event-draft.ts';
import type { Read } from '../../platform/database/reads/joint-reads.ts';
import type { Session } from '../../sessions/session.ts';
import { unfinishedReads } from '../../sessions/session-store.ts';
import type { PeopleContext } from '../context.ts';
import type { Snapshot } from './claims-snapshot.ts';
import type { Enrolling } from './enroll.ts';

/** A session whose enrollment is up to date, with all its events to publish. */
interface Unpublished {
  session: Session;
  drafts: readonly EventDraft[];
}

const batchSize = 200;
/** The sweep waits this many milliseconds, so that the process that changed a session can finish the work itself. */
const gracePeriodMs = 5_000;

/** Does what follows a change of a session: updates the enrollment, then publishes events. The sweep finishes the rest. */
export function createOutbox({ sessions, publish, clock, logger }: PeopleContext, enrolling: Enrolling) {
  const publishAll = createGroupCommit<Unpublished, undefined>({
    async run(batch) {
      await publish(batch.flatMap(({ drafts }) => drafts));
      await sessions.markPublished(batch.map(({ session }) => session));
      return batch.map(() => undefined);
    },
  });

  /**
   * Updates the enrollment of a session, and collects the events of both.
   * @param snapshot user and enrollment, if the caller has just read them
   */
  async function withDrafts(session: Session, snapshot?: Snapshot): Promise<Unpublished> {
    const ofEnrollment = session.enrollmentDueAt ? await enrolling.applyToEnrollment(session, snapshot) : [];
    return { session, drafts: [...ofEnrollment, ...session.outbox] };
  }

  const finishOne = async (session: Session) => publishAll(await withDrafts(session));

  /** Lets `work` on a session go on without the caller. After a failure, the sweep repeats it. */
  function inBackground(work: Promise<unknown>, { _id }: Session): void {
    work.catch((err: unknown) => logger.warn({ err, of: _id }, 'events left to the sweep'));
  }

  /**
   * Finishes these sessions. They share batches, and a batch fails as a whole. So failed ones are tried again one by one:
   * a session whose events cannot be published does not delay the others.
   * @returns whether all are published
   */
  async function finishEach(due: readonly Session[]): Promise<boolean> {
    const results = await Promise.allSettled(due.map(finishOne));
    const failed = due.filter((_, index) => results[index]?.status === 'rejected');
    let allFinished = true;
    for (const session of failed) {
      await finishOne(session).catch((err: unknown) => {
        allFinished = false;
        logger.error({ err, of: session._id }, 'events could not be published');
      });
    }
    return allFinished;
  }

  const leftBefore = () => new Date(clock.now() - gracePeriodMs);

  return {
    /** The look of the sweep. */
    reads: (): Read[] => unfinishedReads(leftBefore()),

    /**
     * Updates the enrollment, then publishes in the background: no response waits for a webhook (interface section 6,
     * rule 1).
     */
    async finish(session: Session, snapshot?: Snapshot): Promise<void> {
      inBackground(publishAll(await withDrafts(session, snapshot)), session);
    },

    /** As `finish`, but the enrollment is updated in the background too. */
    drain: (session: Session): void => inBackground(finishOne(session), session),

    /**
     * Finishes what other processes have left. After a failure it stops until the next sweep: the oldest sessions are
     * found first, so the failed ones would be found again.
     */
    async sweep(): Promise<void> {
      const before = leftBefore();
      for (const find of [sessions.unpublished, sessions.dueForEnrollment]) {
        let isLastBatch = false;
        while (!isLastBatch) {
          const due = await find(before, batchSize);
          const allFinished = await finishEach(due);
          isLastBatch = !allFinished || due.length < batchSize;
        }
      }
    },
  };
}
export type Outbox = ReturnType<typeof createOutbox>;
