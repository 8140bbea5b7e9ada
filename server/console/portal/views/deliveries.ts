import { sentNames } from '../../../../contracts/event-names.ts';
import { forMembers } from '../../../../contracts/member-advice.ts';
import { adviseDelivery } from '../../../../contracts/receiver-advice.ts';
import { resendSpan } from './bulk.ts';
import { asking } from './kit/ask.ts';
import {
  checkedByProcedure,
  keyOptions,
  modeOf,
  select,
  spanFields,
  spanIn,
  withoutResult,
} from './kit/forms.ts';
import { listView, pageOf } from './kit/list.ts';
import type { Action, PageContext, PageRow, Question, Section, View } from './kit/page.ts';
import { anyOption, english, link, linkIfAny, options, text, time, toned, utcText } from './kit/text.ts';

type Delivery = Awaited<ReturnType<PageContext['api']['deliveries']['show']>>;
type Attempt = Delivery['attempts'][number];

/** The statuses that a search offers. `waiting` means pending and already due. */
const statuses = ['pending', 'in_flight', 'delivered', 'failed', 'skipped', 'waiting'];

const deliveryReference = ({ params }: PageContext) => ({ deliveryId: params['delivery'] ?? '' });

function toneOf(status: string): 'bad' | 'good' | undefined {
  if (status === 'failed') return 'bad';
  return status === 'delivered' ? 'good' : undefined;
}

/** The status of the last response, or the class of the error. */
function lastAnswerOf({ attempts }: Pick<Delivery, 'attempts'>) {
  const { status = null, error = null } = attempts.at(-1) ?? {};
  const answer = status ?? error;
  return answer === null ? text(null) : toned(String(answer), toneOfAnswer(status));
}

const toneOfAnswer = (status: number | null) =>
  status !== null && status >= 200 && status < 300 ? ('good' as const) : ('bad' as const);

async function list(context: PageContext): Promise<View> {
  const { api, m, query } = context;
  const { key, status, event, since, until, eventId } = query;
  const [deliveries, keys] = await Promise.all([
    api.deliveries.list({
      ...pageOf(context),
      keyId: key,
      mode: modeOf(query),
      status: checkedByProcedure(status),
      event: checkedByProcedure(event),
      ...spanIn(query),
      eventId,
    }),
    keyOptions(context),
  ]);
  return listView(context, 'deliveries', {
    empty: m.emptyDeliveries,
    search: [
      select('key', m.key, [anyOption, ...keys], key),
      select('status', m.status, [anyOption, ...options(statuses)], status),
      select('event', m.event, [anyOption, ...options(sentNames)], event),
      ...spanFields(m, since, until),
      { name: 'eventId', label: 'event_id', value: eventId, placeholder: 'evt_…' },
    ],
    rows: deliveries,
    columns: [
      [m.id, (delivery) => link(delivery.id, `/deliveries/${delivery.id}`)],
      [m.event, (delivery) => text(delivery.event)],
      [m.mode, (delivery) => text(delivery.mode)],
      [m.status, (delivery) => toned(delivery.status, toneOf(delivery.status))],
      [m.attempts, (delivery) => text(delivery.attempts.length)],
      [m.answer, lastAnswerOf],
      [m.created, (delivery) => time(delivery.createdAt)],
    ],
    below: [
      keys.length > 0 && {
        title: m.resendSpan,
        forms: [
          {
            act: 'resendSpan',
            fields: [
              select('key', m.key, keys),
              ...spanFields(m),
              select('status', m.which, options(['failed', 'skipped', 'delivered'])),
            ],
            submit: m.resend,
          },
        ],
      },
    ].filter((section) => section !== false),
  });
}

/** Rebuilds the request line and headers of an attempt from its record. Signatures are not stored, so a mark stands for them. */
function requestOf({ eventId, event }: Delivery, { attempt }: Attempt): string {
  return [
    'POST',
    'Content-Type: application/json',
    `X-SVC-Event: ${event}`,
    `X-SVC-Event-Id: ${eventId}`,
    `X-SVC-Attempt: ${attempt}`,
    'X-SVC-Signature: sha256=(…)',
    `webhook-id: ${eventId}`,
    'webhook-signature: v1,(…)',
  ].join('\n');
}

function attemptSections(delivery: Delivery, attempt: Attempt, { m }: PageContext): Section[] {
  const { status, error, durationMs, retryAfter, location, answer } = attempt;
  const response = [
    retryAfter === null ? null : `Retry-After: ${retryAfter}`,
    location === null ? null : `Location: ${location}`,
    answer,
  ].filter((line) => line !== null);
  return [
    {
      title: `${m.attempt} ${attempt.attempt}: ${m.request}`,
      facts: [
        [m.time, time(attempt.at)],
        // An attempt without a response has an error instead of a status.
        [m.status, toned(String(status ?? error ?? '–'), toneOfAnswer(status))],
        [m.duration, text(durationMs === null ? null : `${durationMs} ms`)],
        [m.error, english(attempt.detail)],
        [m.url, text(attempt.url)],
        [m.address, text(attempt.address)],
        [m.cause, text(attempt.trigger)],
        [m.nextAttempt, time(attempt.nextAttemptAt)],
      ],
      raw: requestOf(delivery, attempt),
    },
    {
      title: `${m.attempt} ${attempt.attempt}: ${m.answer}`,
      ...(response.length > 0 ? { raw: response.join('\n') } : { note: m.noAnswer }),
    },
  ];
}

/** What the member can do about failed attempts, in English as in `svc`. */
function adviceOn(delivery: Delivery): string | null {
  const advice = adviseDelivery(delivery);
  return advice === undefined ? null : `${forMembers(advice)}.`;
}

/** For this time after a delivery was made, its page waits for the first answer, in milliseconds. */
const firstAnswerMs = 30_000;
const refreshSeconds = 2;

/** An attempt that is under way has neither a status nor an error. */
const hasEnded = ({ status, error }: Pick<Attempt, 'status' | 'error'>) => (status ?? error) !== null;

/** Whether the first answer to a delivery is still to come, soon. */
export const isFirstAnswerNear = (
  {
    status,
    waiting,
    attempts,
    createdAt,
  }: Pick<Delivery, 'status' | 'waiting' | 'createdAt'> & {
    attempts: readonly Pick<Attempt, 'status' | 'error'>[];
  },
  now: number,
): boolean =>
  !attempts.some(hasEnded) &&
  waiting !== 'paused' &&
  (status === 'pending' || status === 'in_flight') &&
  now - new Date(createdAt).getTime() < firstAnswerMs;

/** What has become of a delivery, for the member who has just sent, moved or cancelled it. */
function outcomeOf({ attempts, skipped, waiting, nextAttemptAt }: Delivery, m: PageContext['m']) {
  const unsent = skipped ?? waiting;
  if (unsent !== null) return { text: `${m.notSent} ${unsent}` };
  const { status, error } = attempts.findLast(hasEnded) ?? {};
  const answer = status ?? error;
  if (!answer) return { text: m.answerNear };
  const next = nextAttemptAt === null ? '' : ` ${m.nextAttempt}: ${utcText(nextAttemptAt)}.`;
  const words = status ? m.answeredBy : m.notAnswered;
  return { text: `${words} ${answer}.${next}`, tone: toneOfAnswer(status ?? null) };
}

async function show(context: PageContext): Promise<View> {
  const { api, m } = context;
  const delivery = await api.deliveries.show(deliveryReference(context));
  const { body } = await api.events.show({ eventId: delivery.eventId });
  const isPending = delivery.status === 'pending';
  return {
    title: delivery.event,
    refresh: isFirstAnswerNear(delivery, context.now) ? refreshSeconds : undefined,
    done: outcomeOf(delivery, m),
    sections: [
      {
        title: delivery.id,
        facts: [
          [m.status, toned(delivery.status, toneOf(delivery.status))],
          [m.event, link(delivery.eventId, `/deliveries?eventId=${delivery.eventId}`)],
          [m.key, link(delivery.keyId, `/webhooks/${delivery.keyId}`)],
          [m.created, time(delivery.createdAt)],
          [m.nextAttempt, time(delivery.nextAttemptAt)],
          // The reason why the delivery was skipped, or why it waits.
          [m.error, text(delivery.skipped ?? delivery.waiting)],
          [m.fix, english(adviceOn(delivery))],
          [m.repeats, linkIfAny(delivery.resendOf, '/deliveries')],
        ],
        forms: isPending
          ? [
              { act: 'now', fields: [], submit: m.sendNow },
              { act: 'cancel', fields: [], submit: m.cancel, danger: true },
            ]
          : [{ act: 'resend', fields: [], submit: m.resend }],
      },
      { title: m.sentBody, note: m.sentBodyNote, raw: body },
      ...delivery.attempts.flatMap((attempt) => attemptSections(delivery, attempt, context)),
    ],
  };
}

const resend: Action = async (context) => {
  const { deliveryId } = deliveryReference(context);
  const { deliveries } = await context.api.deliveries.resend({ deliveryIds: [deliveryId] });
  const [resent] = deliveries;
  // Its page says what the receiver answers.
  return resent ? { to: `/deliveries/${resent.id}` } : undefined;
};

const askToCancel = async (context: PageContext): Promise<Question | undefined> => {
  const { api, m } = context;
  const { id, event, eventId, keyId } = await api.deliveries.show(deliveryReference(context));
  const { mode } = await api.keys.show({ keyId });
  if (mode !== 'live') return undefined;
  return { text: m.endsDelivery, facts: [[m.event, { text: `${event} · ${eventId} · ${id}` }]] };
};

export const deliveryPages: readonly PageRow[] = [
  {
    path: '/deliveries',
    nav: 'deliveries',
    modes: 'any',
    needs: 'deliveries.list',
    changes: 'bulk.start',
    view: list,
    actions: { resendSpan },
  },
  {
    path: '/deliveries/:delivery',
    needs: 'deliveries.show',
    changes: 'deliveries.resend',
    view: show,
    actions: {
      resend,
      now: withoutResult((context) =>
        context.api.deliveries.reschedule({ ...deliveryReference(context), inSeconds: 0 }),
      ),
      cancel: asking(
        'deliveries.cancel',
        askToCancel,
        withoutResult((context) => context.api.deliveries.cancel(deliveryReference(context))),
      ),
    },
  },
];
