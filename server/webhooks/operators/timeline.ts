import type { EventStory } from '../../../contracts/admin/events.ts';
import { type WaitReason, waitReasons } from '../../../contracts/wait-reasons.ts';
import {
  type AttemptError,
  type AttemptTrigger,
  attemptBudget,
  type SkipReason,
} from '../../../contracts/webhooks.ts';
import type { Attempt, Delivery, StoredEvent } from '../delivery/delivery.ts';
import { statusOf } from './views.ts';

const occasions: Record<AttemptTrigger, string> = {
  event: 'at once',
  schedule: 'by schedule',
  recovery: 'again, after an interruption',
  resend: 'by hand',
  test: 'as a test',
  run: 'ahead of time, by hand',
  reschedule: 'at a time set by hand',
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
const iso = (date: Date): string => date.toISOString();

const failures: Record<AttemptError, (row: Attempt) => string> = {
  dns: ({ detail }) => `the host name did not resolve (${detail})`,
  refused: ({ detail }) => `nothing accepted the connection (${detail})`,
  reset: ({ detail }) => `the connection broke before there was an answer (${detail})`,
  tls: ({ detail }) => `no TLS connection came about (${detail})`,
  timeout: ({ detail }) => `there was no answer within ${seconds(attemptBudget)} (${detail})`,
  blocked_address: ({ detail }) => `it was not sent: ${detail}`,
  http: ({ status, detail }) =>
    status === undefined ? `the answer was not HTTP (${detail})` : `the answer was HTTP ${status}`,
  interrupted: () => 'the process that sent it ended; whether it arrived is not known',
};

function outcome(row: Attempt): string {
  if (row.error) return failures[row.error](row);
  return row.status === undefined ? 'it is under way' : `it was acknowledged with HTTP ${row.status}`;
}

function tellAttempt(row: Attempt): string {
  const waited = row.at.getTime() - row.dueAt.getTime();
  const slot = waited > 1500 ? `, ${seconds(waited)} after it was due for want of a free slot` : '';
  const where = row.address ? ` at ${row.address}` : '';
  const took = row.durationMs === undefined ? '' : `, after ${seconds(row.durationMs)}`;
  const answer = row.answer ? `; the answer began: ${JSON.stringify(row.answer.slice(0, 120))}` : '';
  return `${iso(row.at)}: attempt ${row.attempt} (${occasions[row.trigger]}${slot}): ${outcome(row)}${where}${took}${answer}.`;
}

const skips: Record<SkipReason, string> = {
  no_url: 'the key had no webhook URL',
  key_revoked: 'the key was revoked',
  partner_suspended: 'the partner was suspended',
  localhost_not_allowed: 'its URL is on localhost, which this server does not send to',
  cancelled: 'an operator cancelled it',
};

/** A command that calls a procedure, as the reader may use it: with who can be asked for it where they may not. */
export type Offer = (procedure: string, command: string) => string;

/** Time and reader of a timeline, and why due attempts wait. */
interface Moment {
  offer: Offer;
  now: Date;
  waits: ReadonlyMap<string, WaitReason>;
}

function tellEnd(
  { _id, status, skipped, endedAt, nextAttemptAt, attempt, limit }: Delivery,
  { now, waits }: Omit<Moment, 'offer'>,
): string[] {
  switch (status) {
    case 'pending': {
      const wait = (nextAttemptAt?.getTime() ?? 0) - now.getTime();
      const reason = waits.get(_id);
      const overdue = reason
        ? `has been due for ${seconds(-wait)} and waits: ${waitReasons[reason]}`
        : 'is due now';
      const when = wait > 0 ? `is due at ${nextAttemptAt?.toISOString()}, in ${seconds(wait)}` : overdue;
      return [`Attempt ${attempt} of ${limit} ${when}.`];
    }
    case 'in_flight':
      return [];
    case 'delivered':
      return [`Delivery ${_id} was delivered.`];
    case 'failed':
      return [`Delivery ${_id} failed at ${endedAt?.toISOString()}: nothing more is sent by itself.`];
    case 'skipped':
      return [
        `Delivery ${_id} was skipped at ${endedAt?.toISOString()}: ${skips[skipped?.reason ?? 'no_url']}.`,
      ];
  }
}

function tellDelivery(delivery: Delivery, moment: Moment): string[] {
  const { _id, resendOf, createdAt, trigger } = delivery;
  const opening = resendOf
    ? [`${iso(createdAt)}: an operator had ${resendOf} sent again, as ${_id}.`]
    : trigger === 'test'
      ? [`${iso(createdAt)}: an operator had a sample sent, as ${_id}.`]
      : [];
  return [...opening, ...delivery.attempts.map(tellAttempt), ...tellEnd(delivery, moment)];
}

const remedies: Record<AttemptError, string> = {
  dns: 'Have the partner check the host name of the URL',
  refused: 'Have the partner check that the receiver runs and that its firewall lets us in',
  reset: 'Have the partner look at what closes the connection: a proxy, a size limit, a crash',
  tls: "Have the partner mend the receiver's certificate: its chain, its name, its end",
  timeout: 'Have the partner answer at once and work afterwards: 10 seconds are all there is',
  blocked_address: 'Have the partner give a URL that leads to public addresses only, and set it',
  http: 'Have the partner look at why the receiver does not answer with a 2xx',
  interrupted: 'The server was stopped in the middle',
};

/** What to do now. A command that the role does not allow is named with who may. */
function advise(event: StoredEvent, last: Delivery | undefined, offer: Offer): string | null {
  if (!last)
    return 'The event has no delivery; the next sweep should make one. If it does not, tell the developers.';
  const resend = offer('deliveries.resend', `svcadmin deliveries resend ${last._id}`);
  const set = offer('webhooks.set', `svcadmin webhooks set ${event.keyId} --url URL`);
  const { skipped, status } = last;
  if (status === 'failed') {
    const row = last.attempts.at(-1);
    if (row?.status === 410)
      return `The receiver says that the URL is gone (410). Have the partner set another, then: ${resend}`;
    return `${remedies[row?.error ?? 'http']}, then: ${resend}`;
  }
  if (status !== 'skipped') return null;
  switch (skipped?.reason) {
    case 'key_revoked':
      return `Events of a revoked key are not sent. Move the client to a live key: ${offer('clients.update', 'svcadmin clients update --key')}`;
    case 'partner_suspended':
      return `Once the partner may be served again: ${offer('partners.activate', `svcadmin partners activate ${event.partnerId}`)}, then: ${resend}`;
    case 'localhost_not_allowed':
      return `Set an https:// URL: ${set}, then: ${resend}`;
    case 'cancelled':
      return `If it should be sent after all: ${resend}`;
    case 'no_url':
    case undefined:
      return `Set a URL: ${set}, then: ${resend}`;
  }
}

/** Describes the timeline of an event in sentences, and what to do. `deliveries` are those of the event, in order of time. */
export function tell(event: StoredEvent, deliveries: readonly Delivery[], moment: Moment): EventStory {
  const about = event.sessionId ?? event.enrollmentId ?? event.sub;
  const status = statusOf(deliveries);
  return {
    id: event._id,
    event: event.type,
    status,
    story: [
      `${iso(event.createdAt)}: ${event.type} happened${about ? ` (${about})` : ''}, for key ${event.keyId} of partner ${event.partnerId}, ${event.mode} mode.`,
      ...deliveries.flatMap((delivery) => tellDelivery(delivery, moment)),
    ],
    advice: status === 'delivered' ? null : advise(event, deliveries.at(-1), moment.offer),
  };
}
