import type { EventDraft } from '../../../server/platform/database/event-draft.ts';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import { createWebhooks } from '../../../server/webhooks/webhooks.ts';
import { createRandom, type Random } from '../simulation/random.ts';
import { createSchedule, type Schedule } from '../simulation/schedule.ts';
import { installTimers } from '../simulation/timers.ts';
import { checkAtRest, isAtRest } from './check.ts';
import type { WebhooksCore } from './edited-server.ts';
import { createHarness, type Harness } from './harness.ts';
import { drawPlan, type Plan } from './plan.ts';
import type { Sent } from './receivers.ts';
import type { StoreGuards } from './store.ts';

/** What a run changes: a removed guard of the product or of its store, and parts of the plan. */
export interface Variant {
  core?: WebhooksCore;
  guards?: StoreGuards;
  plan?: Partial<Plan>;
}

interface Outcome {
  seed: number;
  violations: readonly string[];
  /** How many attempts were sent, and how many of them were repeated after an interruption. */
  sent: number;
  interrupted: number;
  trace: readonly string[];
}

const start = Date.UTC(2026, 10, 21);
/** Longer than all leases, retries and sweeps, also if all events of a schedule hang three times at one process. */
const calmDownMs = 400_000;
/** Longer than leases, late messages and the locks of jobs: if nothing happens for so long, nothing will. */
const quietMs = 80_000;
/** An outbox publishes an event again this long after a try that was not confirmed. */
const outboxAfterMs = 10_000;
/** The longest time from a read of an endpoint to its use: the longest wait for an answer, and the time to send. */
const staleAfterMs = 2_500;
const slotsOfEndpoint = 5;

const draftOf = (n: number, keyId: string, at: number): EventDraft => ({
  type: 'enrollment.created',
  cause: [`enr_${n}`],
  partnerId: 'ptr_1',
  mode: 'test',
  keyId,
  about: {},
  at: new Date(at),
  fields: { enrollment_id: `enr_${n}`, user_id: `user ${n}`, created_at: new Date(at).toISOString() },
});

const secretOf = (keyId: string, version: number) => `whsec_${keyId}${version}`;

/** Changes of an endpoint: from when on it has a secret, and when it is paused. */
interface History {
  secrets: { secret: string; from: number }[];
  pauses: { from: number; until: number }[];
}

/** Checks a POST at the moment at which it is sent. */
function createSendChecks(
  schedule: Schedule,
  harness: () => Harness,
  { histories, violate }: { histories: Map<string, History>; violate: (text: string) => void },
) {
  return (sent: Sent): void => {
    const { keyId, eventId, attempt, process } = sent;
    const now = schedule.now();
    const what = `attempt ${attempt} of ${eventId.slice(0, 8)} to ${keyId}`;
    if (sent.body === '') violate(`${what} has no body`);
    const open = harness().receivers.sent.filter(({ end }) => end > now);
    if (open.some((other) => other.eventId === eventId)) violate(`${what} is sent twice at a time`);
    const ofEndpoint = open.filter((other) => other.process === process && other.keyId === keyId);
    if (ofEndpoint.length >= slotsOfEndpoint) violate(`${what} is the sixth of a process at a time`);
    // A frozen process may send what it has read before.
    if (now - (harness().resumed.get(process) ?? 0) < staleAfterMs) return;
    const { secrets, pauses } = histories.get(keyId) ?? { secrets: [], pauses: [] };
    const used = secrets.findIndex(({ secret }) => contractSignature(sent.body, secret) === sent.signature);
    const replacedAt = secrets[used + 1]?.from ?? Number.POSITIVE_INFINITY;
    if (used === -1 || replacedAt < now - staleAfterMs) violate(`${what} has an old secret`);
    if (pauses.some(({ from, until }) => from < now - staleAfterMs && until > now + 1_000))
      violate(`${what} is sent during a pause`);
  };
}

/** Schedules the changes of operators and the faults of machines within the span of the plan. */
function startTrouble(
  harness: Harness,
  schedule: Schedule,
  random: Random,
  settings: { plan: Plan; histories: Map<string, History> },
) {
  const { plan, histories } = settings;
  const { endpoints, processes, director, jobs } = harness;
  const sometime = (count: number, act: () => void) => {
    for (let n = 0; n < count; n += 1) schedule.after(random.between(0, plan.span), director, act);
  };
  sometime(plan.rotations, () => {
    const [keyId, endpoint] = random.some([...endpoints]) ?? [];
    if (!keyId || !endpoint) return;
    const secretVersion = endpoint.secretVersion + 1;
    const secret = secretOf(keyId, secretVersion);
    histories.get(keyId)?.secrets.push({ secret, from: schedule.now() });
    endpoints.set(keyId, { ...endpoint, secret, secretVersion });
  });
  sometime(plan.pauses, () => {
    const [keyId, endpoint] = random.some([...endpoints]) ?? [];
    if (!keyId || !endpoint || endpoint.pausedUntil) return;
    const pause = { from: schedule.now(), until: schedule.now() + random.between(3_000, 30_000) };
    histories.get(keyId)?.pauses.push(pause);
    endpoints.set(keyId, { ...endpoint, pausedUntil: new Date(pause.until) });
    if (random.chance(0.5)) return;
    schedule.after(random.between(3_000, pause.until - pause.from), director, () => {
      pause.until = schedule.now();
      const { pausedUntil: _pause, ...present } = endpoints.get(keyId) ?? endpoint;
      endpoints.set(keyId, present);
      const one = random.some(processes);
      if (one) schedule.after(0, one.actor, () => void one.webhooks.resume(keyId).catch(() => undefined));
    });
  });
  sometime(plan.freezes, () => {
    const one = random.some(processes);
    if (one) harness.freeze(one.actor, random.pick([500, 12_000, 30_000]));
  });
  sometime(plan.jobLosses, () => jobs.clear());
  sometime(plan.elections, () => harness.elect(random.between(500, 8_000)));
}

/** Publishes all events. As an outbox does, repeats a publication until it is confirmed. */
function startTraffic(harness: Harness, schedule: Schedule, random: Random, plan: Plan): Set<string> {
  const unconfirmed = new Set<string>();
  const keys = [...harness.endpoints.keys()] as [string, ...string[]];

  function publish(drafts: readonly EventDraft[]): void {
    const names = drafts.map(({ cause }) => cause.join());
    if (!names.some((name) => unconfirmed.has(name))) return;
    const one = random.some(harness.processes);
    if (one)
      harness.publish(one, drafts, () => {
        for (const name of names) unconfirmed.delete(name);
      });
    schedule.after(outboxAfterMs, harness.director, () => publish(drafts));
  }

  for (let n = 0; n < plan.events; ) {
    const at = random.between(1, plan.span);
    const count = Math.min(plan.events - n, random.int(1, plan.together));
    const drafts = Array.from({ length: count }, (_, k) => draftOf(n + k, random.pick(keys), start + at));
    // The same event twice in a publication is one event.
    const published = random.chance(0.2) ? [...drafts, ...drafts.slice(0, 1)] : drafts;
    for (const { cause } of drafts) unconfirmed.add(cause.join());
    schedule.after(at, harness.director, () => publish(published));
    n += count;
  }
  return unconfirmed;
}

/** Replaces the clocks of the machine, which the product compares with the clock of the database. */
function installClocks(schedule: Schedule, machineNow: () => number): () => void {
  const { now } = Date;
  Date.now = machineNow;
  Object.defineProperty(performance, 'now', { value: schedule.now, configurable: true });
  return () => {
    Date.now = now;
    Reflect.deleteProperty(performance, 'now');
  };
}

/** Runs the schedule of one seed. The same seed yields the same schedule. */
export async function simulate(
  seed: number,
  { variant = {}, trace = false }: { variant?: Variant; trace?: boolean } = {},
): Promise<Outcome> {
  const { core = { createWebhooks }, guards = {} } = variant;
  const random = createRandom(seed);
  const schedule = createSchedule(start, random);
  const plan = drawPlan(random, variant.plan ?? {});
  const violations: string[] = [];
  const lines: string[] = [];
  const log = (actor: string, text: () => string) => {
    if (trace) lines.push(`${((schedule.now() - start) / 1000).toFixed(3)} ${actor}: ${text()}`);
  };
  const violate = (text: string) => {
    violations.push(text);
    log('VIOLATION', () => text);
  };
  const histories = new Map<string, History>();
  const onSend = createSendChecks(schedule, () => harness, { histories, violate });
  const harness: Harness = createHarness({
    ...{ plan, core, guards, schedule, random, log },
    onSend(sent) {
      log(sent.process.name, () => `POST ${sent.attempt} of ${sent.eventId.slice(0, 8)} to ${sent.keyId}`);
      onSend(sent);
    },
  });
  for (let n = 0; n < plan.endpoints; n += 1) {
    const keyId = `key_${n}`;
    const secret = secretOf(keyId, 1);
    histories.set(keyId, { secrets: [{ secret, from: 0 }], pauses: [] });
    harness.endpoints.set(keyId, {
      state: 'on',
      url: `http://localhost/${keyId}`,
      secret,
      secretVersion: 1,
      mode: 'test',
    });
  }
  const restoreTimers = installTimers(schedule, random);
  const restoreClocks = installClocks(schedule, harness.machineNow);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = trace ? stackTraceLimit : 0;
  try {
    for (let n = 0; n < plan.workers + plan.others; n += 1) harness.start(n < plan.workers);
    await schedule.run(start);
    const unconfirmed = startTraffic(harness, schedule, random, plan);
    startTrouble(harness, schedule, random, { plan, histories });
    await schedule.run(start + plan.span);
    Object.assign(harness.weather, { faults: 0, crashRate: 0 });
    const end = schedule.now() + calmDownMs;
    for (let wasAtRest = false; violations.length === 0 && !wasAtRest && schedule.now() < end; ) {
      wasAtRest = isAtRest(harness, unconfirmed);
      await schedule.run(schedule.now() + quietMs);
    }
    if (violations.length === 0) violations.push(...checkAtRest(harness, plan, unconfirmed));
  } catch (error) {
    violate(`unexpected: ${error instanceof Error ? error.stack : error}`);
  } finally {
    restoreClocks();
    restoreTimers();
    Error.stackTraceLimit = stackTraceLimit;
  }
  const rows = [...harness.documents.deliveries.values()].flatMap(({ attempts }) => attempts);
  const interrupted = rows.filter(({ error }) => error === 'interrupted').length;
  return { seed, violations, sent: harness.receivers.sent.length, interrupted, trace: lines };
}
