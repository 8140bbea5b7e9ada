import type { EventTimeline } from '../../../contracts/admin/events.ts';
import { skipReasons, waitReasons } from '../../../contracts/delivery-reasons.ts';
import { identifierPrefixes } from '../../../contracts/identifiers.ts';
import { adviseReceiver } from '../../../contracts/receiver-advice.ts';
import {
  type AttemptError,
  type AttemptTrigger,
  attemptTimeoutMs,
  type SkipReason,
  type WaitReason,
} from '../../../contracts/webhooks.ts';
import {
  type Attempt,
  type Delivery,
  firstDueOf,
  type StoredEvent,
  skipReasonOf,
} from '../delivery/delivery.ts';
import type { OffReason } from '../delivery/endpoint.ts';
import { dueTimeOf, statusOf } from './views.ts';

const triggers: Record<AttemptTrigger, string> = {
  event: 'immediately',
  schedule: 'by the retry schedule',
  recovery: 'again, after an interruption',
  resend: 'resent by an operator',
  test: 'as a test',
  run: 'run early by an operator',
  reschedule: 'rescheduled by an operator',
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
const iso = (date: Date): string => date.toISOString();

const failureTexts: Record<AttemptError, (attempt: Attempt) => string> = {
  dns: ({ detail }) => `the host name did not resolve (${detail})`,
  refused: ({ detail }) => `the connection was refused (${detail})`,
  reset: ({ detail }) => `the connection broke before there was an answer (${detail})`,
  tls: ({ detail }) => `the TLS handshake failed (${detail})`,
  timeout: ({ detail }) => `there was no answer within ${seconds(attemptTimeoutMs)} (${detail})`,
  blocked_address: ({ detail }) => `it was not sent: ${detail}`,
  http: ({ status, detail }) =>
    status === undefined ? `the answer was not HTTP (${detail})` : `the answer was HTTP ${status}`,
  interrupted: () => 'the process that sent it ended; it is not known whether the request arrived',
};

function describeOutcome(attempt: Attempt): string {
  if (attempt.error) return failureTexts[attempt.error](attempt);
  return attempt.status === undefined ? 'it is under way' : `it was acknowledged with HTTP ${attempt.status}`;
}

/** An attempt that began later than this had to wait. The scheduler, which polls every second, delays it less. */
const longestUsualWaitMs = 1500;
/** The most characters of a response in a timeline. */
const longestExcerpt = 120;

function describeAttempt(attempt: Attempt): string {
  const { at, dueAt, trigger, address, durationMs, location, retryAfter, answer } = attempt;
  const waitedMs = at.getTime() - dueAt.getTime();
  // Why it waited is not stored: for a slot, a worker, a master key or the end of a pause.
  const lateness = waitedMs > longestUsualWaitMs ? `, ${seconds(waitedMs)} after it was due` : '';
  const details = [
    address && ` at ${address}`,
    durationMs !== undefined && `, after ${seconds(durationMs)}`,
    location && `; Location: ${location}`,
    retryAfter && `; Retry-After: ${retryAfter}`,
    answer && `; the answer began: ${JSON.stringify(answer.slice(0, longestExcerpt))}`,
  ].filter(Boolean);
  return `${iso(at)}: attempt ${attempt.attempt} (${triggers[trigger]}${lateness}): ${describeOutcome(attempt)}${details.join('')}.`;
}

/** Advises a command. If the reader's role may not run it, names the roles that may. */
export type CommandAdvice = (procedure: string, command: string) => string;

/** What a timeline needs besides the event and its deliveries. */
interface TimelineContext {
  adviseCommand: CommandAdvice;
  now: Date;
  /** Why due deliveries wait, by their ids. */
  waits: ReadonlyMap<string, WaitReason>;
  /** The keys to which nothing is sent now, by their ids. The next attempt of their deliveries skips the delivery. */
  offKeys: ReadonlyMap<string, OffReason>;
}

/** When the next attempt of a pending delivery is due, or why it waits. */
function describeDueTime(delivery: Delivery, { now, waits }: TimelineContext): string {
  const dueAt = firstDueOf(delivery) ?? dueTimeOf(delivery);
  const remainingMs = dueAt.getTime() - now.getTime();
  if (remainingMs > 0) return `is due at ${iso(dueAt)}, in ${seconds(remainingMs)}`;
  const reason = waits.get(delivery._id);
  if (!reason) return 'is due now';
  return `has been due for ${seconds(-remainingMs)} and waits: ${waitReasons[reason]}`;
}

/** Every skipped delivery has a reason, so the default is for the type only. */
const whySkipped = (delivery: Delivery): SkipReason => skipReasonOf(delivery) ?? 'no_url';

/** Describes when a waiting delivery is attempted next, or how the delivery has ended. */
function describeStatus(delivery: Delivery, context: TimelineContext): string[] {
  const { _id, keyId, status, endedAt, attempt, limit } = delivery;
  const off = context.offKeys.get(keyId);
  switch (status) {
    case 'pending':
      return [
        `Attempt ${attempt} of ${limit} ${describeDueTime(delivery, context)}.`,
        ...(off ? [`As things are, delivery ${_id} will be skipped then: ${skipReasons[off]}.`] : []),
      ];
    case 'in_flight':
      // The sentence of the attempt says that it is under way.
      return [];
    case 'delivered':
      return [`Delivery ${_id} was delivered.`];
    case 'failed':
      return [
        `Delivery ${_id} failed at ${endedAt?.toISOString()}: no further attempt is made unless an operator resends it.`,
      ];
    case 'skipped':
      return [
        `Delivery ${_id} was skipped at ${endedAt?.toISOString()}: ${skipReasons[whySkipped(delivery)]}.`,
      ];
  }
}

/** Names the operator or the member of the partner who asked for a resend. */
function describeActor({ operatorId }: Delivery): string {
  if (operatorId === undefined) return 'an operator';
  return `${operatorId.startsWith(identifierPrefixes.member) ? 'member' : 'operator'} ${operatorId}`;
}

function describeOrigin(delivery: Delivery): string[] {
  const { _id, resendOf, bulkId, createdAt, trigger, to } = delivery;
  const job = `${to === undefined ? '' : ` to ${to}`}${bulkId === undefined ? '' : ` by bulk job ${bulkId}`}`;
  if (resendOf) return [`${iso(createdAt)}: ${describeActor(delivery)} resent ${resendOf} as ${_id}${job}.`];
  if (bulkId !== undefined) return [`${iso(createdAt)}: ${describeActor(delivery)} sent it as ${_id}${job}.`];
  if (trigger === 'test') return [`${iso(createdAt)}: an operator sent a sample as ${_id}.`];
  return [];
}

function describeDelivery(delivery: Delivery, context: TimelineContext): string[] {
  return [
    ...describeOrigin(delivery),
    ...delivery.attempts.map(describeAttempt),
    ...describeStatus(delivery, context),
  ];
}

/** Advises what ends the wait of a due delivery. */
function adviseWait(reason: WaitReason, keyId: string, adviseCommand: CommandAdvice): string {
  const doctor = adviseCommand('status', 'svcadmin doctor');
  switch (reason) {
    case 'paused':
      return `To end the pause: ${adviseCommand('webhooks.resume', `svcadmin webhooks resume ${keyId}`)}`;
    case 'endpoint_busy':
      return `The receiver answers slowly. Its times: ${adviseCommand('webhooks.health', `svcadmin webhooks health ${keyId}`)}`;
    case 'server_busy':
      return `Find the receivers that answer slowly: ${adviseCommand('webhooks.health', 'svcadmin webhooks health')}. Or start another worker`;
    case 'secret_unreadable':
      return `Start the worker again with all of SVC_MASTER_KEY. If it has them, make a new secret: ${adviseCommand('webhooks.rotateSecret', `svcadmin webhooks rotate-secret ${keyId}`)}`;
    case 'endpoint_unreadable':
      return `Look at the database and the log of the worker: ${doctor}`;
    case 'no_worker':
      return `Start a process with the role worker in SVC_ROLES, then check: ${doctor}`;
    case 'not_taken_up':
      return `The worker may hang or lack a connection. Look at its log, start it again, then check: ${doctor}`;
  }
}

/** Returns what the operator can do now; null if nothing is needed. */
function advise(
  event: StoredEvent,
  last: Delivery | undefined,
  { adviseCommand, waits, offKeys }: TimelineContext,
): string | null {
  if (!last)
    return 'The event has no delivery; the next sweep should make one. If it does not, tell the developers.';
  const resend = adviseCommand('deliveries.resend', `svcadmin deliveries resend ${last._id}`);
  const set = adviseCommand('webhooks.set', `svcadmin webhooks set ${event.keyId} --url URL`);
  if (last.status === 'failed') {
    const attempt = last.attempts.at(-1);
    // The last attempt of a failed delivery always has an error, so the default is for the type only.
    const { error = 'http' as const, status = null } = attempt ?? {};
    return `${adviseReceiver({ ...attempt, error, status })}, then: ${resend}`;
  }
  const off = last.status === 'pending' ? offKeys.get(last.keyId) : undefined;
  const wait = waits.get(last._id);
  if (wait && !off) return adviseWait(wait, event.keyId, adviseCommand);
  if (last.status !== 'skipped' && !off) return null;
  // A delivery that is still pending goes out by itself.
  const thenResend = last.status === 'skipped' ? `, then: ${resend}` : '';
  switch (off ?? whySkipped(last)) {
    case 'key_revoked':
      return `Events of a revoked key are not sent. Move the client to a live key: ${adviseCommand('clients.update', 'svcadmin clients update --key')}`;
    case 'partner_suspended':
      return `Once the partner may be served again: ${adviseCommand('partners.activate', `svcadmin partners activate ${event.partnerId}`)}${thenResend}`;
    case 'partner_closed':
      return `Events of a closed partner are not sent. If it has come back: ${adviseCommand('partners.activate', `svcadmin partners activate ${event.partnerId}`)}${thenResend}`;
    case 'localhost_not_allowed':
      return `Set an https:// URL: ${set}${thenResend}`;
    case 'other_host':
      return `To send it to the webhook URL: ${resend}`;
    case 'cancelled':
      return `To send it nevertheless: ${resend}`;
    case 'no_url':
      return `Set a URL: ${set}${thenResend}`;
  }
}

/** Describes an event's timeline in sentences, with advice. `deliveries` are those of the event, in order of time. */
export function describeTimeline(
  event: StoredEvent,
  deliveries: readonly Delivery[],
  context: TimelineContext,
): EventTimeline {
  const recordId = event.sessionId ?? event.enrollmentId ?? event.sub;
  const status = statusOf(deliveries);
  return {
    id: event._id,
    event: event.type,
    status,
    story: [
      `${iso(event.createdAt)}: ${event.type} happened${recordId ? ` (${recordId})` : ''}, for key ${event.keyId} of partner ${event.partnerId}, ${event.mode} mode.`,
      ...deliveries.flatMap((delivery) => describeDelivery(delivery, context)),
    ],
    advice: status === 'delivered' ? null : advise(event, deliveries.at(-1), context),
  };
}
