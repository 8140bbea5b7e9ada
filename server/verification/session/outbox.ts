import type { EventDraft, Publish } from '../../platform/event-draft.ts';
import { createStage } from '../../platform/group-commit.ts';
import type { Logger } from '../../platform/logging.ts';

/** A document that may owe events. */
interface Owing {
  _id: string;
  outbox: EventDraft[];
  outboxAt?: Date;
}

interface Creditors<T extends Owing> {
  owing(before: Date, limit: number): Promise<T[]>;
  settle(paid: readonly T[]): Promise<void>;
}

interface Dependencies<T extends Owing> {
  store: Creditors<T>;
  publish: Publish;
  clock: { now(): number };
  logger: Logger;
}

const sweepBatch = 500;
/** The sweep leaves to the process that made a change the time to publish it itself. */
const patience = 5_000;

/** Publishes what documents owe: at once in the background, and by the sweep where that was cut short. */
export function createOutbox<T extends Owing>({ store, publish, clock, logger }: Dependencies<T>) {
  const pay = createStage<T, undefined>({
    async run(documents) {
      await publish(documents.flatMap(({ outbox }) => outbox));
      await store.settle(documents);
      return documents.map(() => undefined);
    },
  });

  /** One that cannot be published must not keep the others waiting. @returns how many are left */
  async function payEach(documents: readonly T[]): Promise<number> {
    const together = await Promise.allSettled(documents.map((document) => pay(document)));
    const failed = documents.filter((_, index) => together[index]?.status === 'rejected');
    let unpaid = 0;
    for (const document of failed) {
      await pay(document).catch((err: unknown) => {
        unpaid += 1;
        logger.error({ err, of: document._id }, 'events could not be published');
      });
    }
    return unpaid;
  }

  return {
    /** Returns at once: no answer waits for a webhook (interface section 6, rule 2). */
    drain(document: T): void {
      if (document.outbox.length === 0) return;
      pay(document).catch((err: unknown) =>
        logger.warn({ err, of: document._id }, 'events left to the sweep'),
      );
    },

    async sweep(): Promise<void> {
      const before = new Date(clock.now() - patience);
      for (;;) {
        const left = await store.owing(before, sweepBatch);
        const unpaid = await payEach(left);
        if (left.length < sweepBatch || unpaid > 0) return;
      }
    },
  };
}
