import type { Post } from '../../../server/webhooks/egress/post.ts';
import type { Random } from '../simulation/random.ts';
import type { Actor, Schedule } from '../simulation/schedule.ts';
import type { Plan } from './plan.ts';

/** One POST of a process. `end` is the latest time at which the process still waits for its answer. */
export interface Sent {
  process: Actor;
  keyId: string;
  eventId: string;
  attempt: number;
  body: string;
  signature: string;
  start: number;
  end: number;
}

const budgetMs = 10_000;

interface Settings {
  schedule: Schedule;
  random: Random;
  plan: Plan;
  /** Called when a process begins a POST. */
  onSend: (sent: Sent) => void;
}

/** The receivers of all endpoints. Their answers are drawn, also late ones, and ones that never come. */
export function createReceivers({ schedule, random, plan, onSend }: Settings) {
  const sent: Sent[] = [];

  /** How a request ends: its result, and after how many milliseconds. */
  function drawEnd() {
    if (random.chance(plan.accepts)) return { result: { status: 204 }, after: random.between(1, 300) };
    if (random.chance(plan.fails))
      return { result: { status: 500, error: 'http' as const }, after: random.between(1, 300) };
    if (random.chance(plan.hangs)) return { result: { error: 'timeout' as const }, after: budgetMs };
    return { result: { error: 'reset' as const }, after: random.between(1, budgetMs) };
  }

  const postAs =
    (process: Actor): Post =>
    ({ url, headers, body }) =>
      new Promise((resolve) => {
        const { result, after } = drawEnd();
        const start = schedule.now();
        const one: Sent = {
          ...{ process, body, start, end: start + after },
          keyId: new URL(url).pathname.slice(1),
          eventId: headers['X-SVC-Event-Id'] ?? '',
          attempt: Number(headers['X-SVC-Attempt']),
          signature: headers['X-SVC-Signature'] ?? '',
        };
        onSend(one);
        sent.push(one);
        schedule.after(after, process, () => resolve({ ...result, durationMs: Math.round(after) }));
      });

  return { sent, postAs };
}
