import type { Random } from './random.ts';
import type { Actor, Schedule } from './schedule.ts';

/** The faults that a message between processes can have. */
const faults = [
  'request lost',
  'reply lost',
  'arrives late',
  'arrives twice',
  'slow reply',
  'connection reset',
] as const;

/** The timeouts of the private link of the product, in milliseconds: for the first sign of life, and for the answer. */
const [aliveWithin, answerWithin, confirmAfter] = [1_000, 1_750, 100];

/** The process's handling of a message. `isClosed`: whether it knows that the sender no longer waits. */
type Receive = (body: string, isClosed: () => boolean) => Promise<string | 401 | 503>;

export interface Receiver {
  actor: Actor;
  receive: Receive;
}

interface Settings {
  schedule: Schedule;
  random: Random;
  /** `messages`: the share of messages with a fault. Times are in milliseconds. */
  conditions: { latency: number; lateness: number; messages: number };
  log: (actor: string, text: () => string) => void;
}

/** Creates the links between processes. A sender without an answer cannot know whether the other process has acted. */
export function createPeerLinks({ schedule, random, conditions, log }: Settings) {
  const delay = () => random.between(0.05, conditions.latency);
  const late = () => random.between(1, random.pick([900, 2_000, conditions.lateness]));

  return function send(sender: Actor, find: () => Receiver | undefined, body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const fault = random.chance(conditions.messages) ? random.pick(faults) : undefined;
      /** During a partition, the other side does not see that the sender has closed the connection. */
      const isPartition = random.chance(0.5);
      let open = true;
      const sentAt = schedule.now();
      log(sender.name, () => `→ hand-over${fault ? ` (${fault})` : ''}`);

      function end(how: string, settle: () => void): void {
        if (!open) return;
        open = false;
        log(sender.name, () => `← hand-over: ${how}`);
        settle();
      }
      const fail = (how: string) => end(how, () => reject(new Error(how)));
      let timer = schedule.after(aliveWithin, sender, () => fail('no sign of life'));
      const confirm = () => {
        timer.cancelled = true;
        // A sender that was paused may already be late.
        const left = Math.max(0, answerWithin - (schedule.now() - sentAt));
        timer = schedule.after(left, sender, () => fail('no answer'));
      };

      async function arrive({ actor, receive }: Receiver): Promise<void> {
        const confirming = schedule.after(confirmAfter, actor, () => {
          if (fault !== 'reply lost') schedule.after(delay(), sender, confirm);
        });
        const answer = await receive(body, () => !open && !isPartition);
        confirming.cancelled = true;
        if (fault === 'reply lost') return;
        const after = fault === 'slow reply' ? random.between(0.8, 1.1) * aliveWithin : delay();
        schedule.after(after, sender, () => {
          timer.cancelled = true;
          if (typeof answer === 'string') end('answered', () => resolve(answer));
          else fail(`status ${answer}`);
        });
      }
      function deliver(after: number): void {
        const receiver = find();
        if (receiver) schedule.after(after, receiver.actor, () => void arrive(receiver));
        else if (random.chance(0.5)) schedule.after(delay(), sender, () => fail('refused'));
      }

      if (fault !== 'request lost') deliver(fault === 'arrives late' ? late() : delay());
      if (fault === 'arrives twice') deliver(late());
      // The other process may have received the message.
      if (fault === 'connection reset')
        schedule.after(random.between(0, 200), sender, () => fail('connection reset'));
    });
  };
}
export type PeerLinks = ReturnType<typeof createPeerLinks>;
