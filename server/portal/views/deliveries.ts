import { asGiven } from './forms.ts';
import type { Action, PageContext, PageRow, Section, View } from './page.ts';
import { link, options, text, time } from './text.ts';

const page = { limit: 50 };
const statuses = ['pending', 'in_flight', 'delivered', 'failed', 'skipped', 'waiting'];
type Delivery = Awaited<ReturnType<PageContext['api']['deliveries']['show']>>;
type Wanted = Parameters<PageContext['api']['deliveries']['list']>[0];

const toneOf = (status: string) =>
  status === 'failed' ? ('bad' as const) : status === 'delivered' ? ('good' as const) : undefined;

/** `2026-07-01` or `2026-07-01 09:00`, as a time of UTC; anything else is refused by the procedure. */
const timeIn = (value: string | undefined): string | undefined => {
  if (!value?.trim()) return undefined;
  const at = new Date(
    /\d{2}:\d{2}/.test(value) ? `${value.trim().replace(' ', 'T')}Z` : `${value.trim()}T00:00Z`,
  );
  return Number.isNaN(at.getTime()) ? value : at.toISOString();
};

async function list({ api, m, partnerId, query }: PageContext): Promise<View> {
  const { key = '', status = '', after } = query;
  const [deliveries, keys] = await Promise.all([
    api.deliveries.list({
      partnerId,
      ...page,
      ...(key ? { keyId: key } : {}),
      ...(status ? { status: asGiven<Wanted['status']>(status) } : {}),
      ...(after ? { after } : {}),
    }),
    api.keys.list({ partnerId, limit: 100 }),
  ]);
  const keyOptions = keys.map(({ id, mode, last4 }) => ({ value: id, text: `${mode} …${last4}` }));
  const last = deliveries.length === page.limit ? deliveries.at(-1) : undefined;
  const next = last && new URLSearchParams({ key, status, after: last.id }).toString();
  return {
    title: m.deliveries,
    sections: [
      {
        title: m.deliveries,
        search: {
          fields: [
            {
              name: 'key',
              label: m.key,
              kind: 'select',
              value: key,
              options: [{ value: '', text: '–' }, ...keyOptions],
            },
            {
              name: 'status',
              label: m.status,
              kind: 'select',
              value: status,
              options: options(statuses, '–'),
            },
          ],
          submit: m.find,
        },
        table: {
          headings: [m.id, m.event, m.mode, m.status, m.attempts, m.created],
          rows: deliveries.map((one) => [
            link(one.id, `/deliveries/${one.id}`),
            text(one.event),
            text(one.mode),
            { text: one.status, tone: toneOf(one.status) },
            text(one.attempts.length),
            time(one.createdAt),
          ]),
        },
        next: next && `/deliveries?${next}`,
      },
      {
        title: m.resendSpan,
        forms: [
          {
            act: 'resendSpan',
            fields: [
              { name: 'key', label: m.key, kind: 'select', options: keyOptions },
              { name: 'since', label: m.from, placeholder: '2026-07-01 09:00' },
              { name: 'until', label: m.until, placeholder: '2026-07-01 12:00' },
              {
                name: 'status',
                label: m.which,
                kind: 'select',
                options: options(['failed', 'skipped', 'delivered']),
              },
            ],
            submit: m.resend,
          },
        ],
      },
    ],
  };
}

const resendSpan: Action = async ({ api, partnerId, m }, { key = '', since, until, status }) => {
  const from = timeIn(since);
  const to = timeIn(until);
  const { job } = await api.bulk.start({
    action: 'resend',
    filter: {
      ...{ partnerId, keyId: key, status: asGiven<'failed' | 'skipped' | 'delivered'>(status) },
      ...(from ? { since: from } : {}),
      ...(to ? { until: to } : {}),
    },
  });
  return job ? { to: `/bulk/${job.id}` } : { secret: { label: m.progress, value: m.none } };
};

function attemptOf(one: Delivery['attempts'][number], { m }: PageContext): Section {
  return {
    title: `${m.attempt} ${one.attempt}`,
    facts: [
      [m.time, time(one.at)],
      [m.status, text(one.status ?? one.error)],
      [m.duration, text(one.durationMs === null ? null : `${one.durationMs} ms`)],
      [m.error, text(one.detail)],
      [m.more, time(one.nextAttemptAt)],
    ],
    ...(one.answer === null ? {} : { note: m.answer, raw: one.answer }),
  };
}

async function show(context: PageContext): Promise<View> {
  const { api, m, params } = context;
  const delivery = await api.deliveries.show({ deliveryId: params['delivery'] ?? '' });
  const { body } = await api.events.show({ eventId: delivery.eventId });
  return {
    title: delivery.event,
    sections: [
      {
        title: delivery.id,
        facts: [
          [m.status, { text: delivery.status, tone: toneOf(delivery.status) }],
          [m.event, text(delivery.eventId)],
          [m.key, link(delivery.keyId, `/webhooks/${delivery.keyId}`)],
          [m.created, time(delivery.createdAt)],
          [m.error, text(delivery.skipped ?? delivery.waiting)],
        ],
        forms: [{ act: 'resend', fields: [], submit: m.resend }],
      },
      { title: m.sentBody, raw: body },
      ...delivery.attempts.map((one) => attemptOf(one, context)),
    ],
  };
}

const resend: Action = async ({ api, params }) => {
  const { deliveries } = await api.deliveries.resend({ deliveryIds: [params['delivery'] ?? ''] });
  const [first] = deliveries;
  return first ? { to: `/deliveries/${first.id}` } : undefined;
};

async function showBulk({ api, m, params }: PageContext): Promise<View> {
  const job = await api.bulk.show({ bulkId: params['bulk'] ?? '' });
  const isRunning = job.status === 'running';
  return {
    title: m.progress,
    ...(isRunning ? { refresh: 5 } : {}),
    sections: [
      {
        title: job.id,
        facts: [
          [m.status, text(job.status)],
          [m.progress, text(`${job.done} / ${job.total}`)],
          [m.from, time(job.filter.since)],
          [m.until, time(job.filter.until)],
          [m.expires, time(job.expectedEndAt)],
        ],
        forms: isRunning ? [{ act: 'cancel', fields: [], submit: m.cancel, danger: true }] : [],
      },
    ],
  };
}

const cancel: Action = async ({ api, params }) => {
  await api.bulk.cancel({ bulkId: params['bulk'] ?? '' });
  return undefined;
};

export const deliveryPages: readonly PageRow[] = [
  {
    path: '/deliveries',
    nav: 'deliveries',
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
    actions: { resend },
  },
  { path: '/bulk/:bulk', needs: 'bulk.show', changes: 'bulk.cancel', view: showBulk, actions: { cancel } },
];
