import type { EndpointHealth } from '../../contracts/admin/endpoint-health.ts';
import type { OpsApi } from './ops-api.ts';
import { percent, type RecordCell, type RecordPage, text, texts, time, to } from './ops-cells.ts';
import { dollars } from './ops-text.ts';

const mostRows = 50;
const endpointRow = (one: EndpointHealth): RecordCell[] => [
  to('endpoint', one.keyId),
  ...texts(one.mode, one.state, percent(one.successShare), time(one.failingSince), one.queued, one.cause),
];
const endpointTable = (title: string, endpoints: readonly EndpointHealth[]) => ({
  title,
  headings: ['Key', 'Mode', 'State', 'Success', 'Failing since', 'Due', 'Why they wait'],
  rows: endpoints.map(endpointRow),
});

async function partner(api: OpsApi, partnerId: string): Promise<RecordPage> {
  const [{ name, status, createdAt }, endpoints, keys, test, live, sessions] = await Promise.all([
    api.partners.show({ partnerId }),
    api.webhooks.health({ partnerId, limit: mostRows }),
    api.keys.list({ partnerId, limit: mostRows }),
    api.wallets.show({ partnerId, mode: 'test' }),
    api.wallets.show({ partnerId, mode: 'live' }),
    api.sessions.list({ partnerId, limit: 20 }),
  ]);
  return {
    title: `Partner ${name}`,
    facts: [
      ['Id', text(partnerId)],
      ['Status', text(status)],
      ['Since', text(time(createdAt))],
      ['Live wallet', { text: dollars(live.balance), to: `/ops/wallet/${partnerId}:live` }],
      ['Test wallet', { text: dollars(test.balance), to: `/ops/wallet/${partnerId}:test` }],
    ],
    tables: [
      endpointTable('Webhook endpoints, the worst first', endpoints),
      {
        title: 'API keys',
        headings: ['Key', 'Mode', 'Status', 'Ends in', 'URL'],
        rows: keys.map((key) => [
          to('endpoint', key.id),
          ...texts(key.mode, key.status, key.last4, key.webhookUrl),
        ]),
      },
      {
        title: 'Last sessions',
        headings: ['Session', 'Mode', 'Status', 'Why not', 'Begun'],
        rows: sessions.rows.map((one) => [
          to('session', one.id),
          ...texts(one.mode, one.status, one.reason, time(one.createdAt)),
        ]),
      },
    ],
    actions: [
      ['See all of it', `svcadmin show ${partnerId}`],
      ['Its refused requests', `svcadmin requests refused --partner ${partnerId} --since 24h`],
      ['Stop it', `svcadmin partners suspend ${partnerId}`],
      ['Serve it again', `svcadmin partners activate ${partnerId}`],
    ],
  };
}

async function endpoint(api: OpsApi, keyId: string): Promise<RecordPage> {
  const [[health], { url, setAt, secretVersion }, deliveries] = await Promise.all([
    api.webhooks.health({ keyId, limit: 1 }),
    api.webhooks.show({ keyId }),
    api.deliveries.list({ keyId, limit: mostRows }),
  ]);
  if (!health) throw new Error(`no health of ${keyId}`);
  return {
    title: `Endpoint of ${keyId}`,
    facts: [
      ['Partner', to('partner', health.partnerId)],
      ['Mode', text(health.mode)],
      ['URL', text(url)],
      ['State', text(health.state)],
      ['Success', text(`${percent(health.successShare)} of ${health.attempts} attempts`)],
      ['Failing since', text(time(health.failingSince))],
      ['Last success', text(time(health.lastSuccessAt))],
      ['p50, p95', text(`${health.p50Ms ?? '–'} ms, ${health.p95Ms ?? '–'} ms`)],
      ['Due', text(health.cause === null ? health.queued : `${health.queued}: ${health.cause}`)],
      ['Secret', text(`version ${secretVersion}, URL set ${time(setAt)}`)],
    ],
    tables: [
      {
        title: 'Answers, within a day',
        headings: ['Answer', 'Share', 'First seen', 'Last seen'],
        rows: health.answers.map(({ answer, count, firstAt, lastAt }) =>
          texts(answer, percent(count / health.attempts), time(firstAt), time(lastAt)),
        ),
      },
      {
        title: 'Last deliveries',
        headings: ['Delivery', 'Event', 'Status', 'Attempts', 'Next attempt', 'Made'],
        rows: deliveries.map((one) => [
          to('delivery', one.id),
          ...texts(
            one.event,
            one.waiting ? `waiting: ${one.waiting}` : one.status,
            one.attempts.length,
            time(one.nextAttemptAt),
            time(one.createdAt),
          ),
        ]),
      },
    ],
    actions: [
      ['Try it', `svcadmin webhooks test ${keyId}`],
      ['Have its events wait', `svcadmin webhooks pause ${keyId} --until 4h`],
      ['End the pause', `svcadmin webhooks resume ${keyId}`],
      ['Send again what has failed', `svcadmin deliveries resend --key ${keyId} --since 24h`],
      ['Stop what has yet to be sent', `svcadmin deliveries cancel --key ${keyId} --since 24h`],
      ['Replace its secret', `svcadmin webhooks prepare-secret ${keyId}`],
      ['Send all of a time again', `svcadmin webhooks replay ${keyId} --since TIME --until TIME`],
      ['Set another URL', `svcadmin webhooks set ${keyId} --url URL`],
    ],
  };
}

async function delivery(api: OpsApi, deliveryId: string): Promise<RecordPage> {
  const one = await api.deliveries.show({ deliveryId });
  return {
    title: `Delivery ${deliveryId}`,
    facts: [
      ['Event', text(`${one.event} (${one.eventId})`)],
      ['Partner', to('partner', one.partnerId)],
      ['Endpoint', to('endpoint', one.keyId)],
      ['Mode', text(one.mode)],
      ['Status', text(one.waiting ? `waiting: ${one.waiting}` : (one.skipped ?? one.status))],
      ['Next attempt', text(time(one.nextAttemptAt))],
      ['Repeats', one.resendOf ? to('delivery', one.resendOf) : text(null)],
      ['Made', text(time(one.createdAt))],
    ],
    tables: [
      {
        title: 'Attempts',
        headings: ['At', 'No.', 'Why', 'Answer', 'In words', 'Address', 'Took', 'Body'],
        rows: one.attempts.map((each) =>
          texts(
            time(each.at),
            each.attempt,
            each.trigger,
            each.status ?? each.error,
            each.detail,
            each.address,
            each.durationMs === null ? null : `${each.durationMs} ms`,
            each.answer,
          ),
        ),
      },
    ],
    actions: [
      ['What became of its event, and what to do', `svcadmin events why ${one.eventId}`],
      ['Send it again', `svcadmin deliveries resend ${deliveryId}`],
      ['Move the next attempt', `svcadmin deliveries reschedule ${deliveryId} --in 30m`],
      ['Make no more attempts', `svcadmin deliveries cancel ${deliveryId}`],
    ],
  };
}

async function session(api: OpsApi, sessionId: string): Promise<RecordPage> {
  const one = await api.sessions.show({ sessionId });
  return {
    title: `Session ${sessionId}`,
    facts: [
      ['Partner', to('partner', one.partnerId)],
      ['Key', to('endpoint', one.keyId)],
      ['Client', text(one.clientId)],
      ['Mode', text(one.mode)],
      ['Status', text(one.expired ? `${one.status}, expired` : one.status)],
      ['Why not', text(one.failure && `${one.failure.reason}: ${one.failure.text}`)],
      ['Source', text(one.source)],
      ['Code', text(one.code?.state ?? null)],
      ['Charge', text(one.code?.charge?.id ?? null)],
    ],
    tables: [
      {
        title: 'Steps',
        headings: ['At', 'Step', 'More'],
        rows: one.timeline.map(({ at, event, note }) => texts(time(at), event, note)),
      },
    ],
    actions: [
      ['See all of it', `svcadmin show ${sessionId}`],
      ['Its events', `svcadmin events list --session ${sessionId}`],
    ],
  };
}

async function wallet(api: OpsApi, id: string): Promise<RecordPage> {
  const [partnerId = '', mode = ''] = id.split(':');
  const reference = { partnerId, mode: mode === 'live' ? ('live' as const) : ('test' as const) };
  const [found, { perMinute, perHour, used }] = await Promise.all([
    api.wallets.show(reference),
    api.limits.show(reference),
  ]);
  return {
    title: `${reference.mode === 'live' ? 'Live' : 'Test'} wallet of ${partnerId}`,
    facts: [
      ['Partner', to('partner', partnerId)],
      ['Balance', text(dollars(found.balance))],
      ['Days left', text(found.daysLeft ?? '–')],
      ['Spent a day', text(dollars(found.spentPerDay))],
      ['Entries', text(found.entries)],
      ['This minute', text(`${used.minute} of ${perMinute}`)],
      ['This hour', text(`${used.hour} of ${perHour}`)],
    ],
    tables: [],
    actions: [
      ['Its entries', `svcadmin wallets statement ${partnerId} --mode ${reference.mode} --from 7d`],
      [
        'Fund it',
        `svcadmin wallets fund ${partnerId} --mode ${reference.mode} --amount 50.00 --reference INVOICE`,
      ],
      ['Verify its ledger', `svcadmin wallets audit ${partnerId}`],
      ['Raise a cap', `svcadmin limits set ${partnerId} --mode ${reference.mode} --per-minute N`],
    ],
  };
}

async function bulk(api: OpsApi, bulkId: string): Promise<RecordPage> {
  const one = await api.bulk.show({ bulkId });
  return {
    title: `Bulk job ${bulkId}`,
    facts: [
      ['What', text(`${one.action}, ${one.rate}/s`)],
      ['Status', text(one.status)],
      ['Done', text(`${one.done} of ${one.exact ? '' : 'at most '}${one.total}, ${one.leftOut} left out`)],
      ['Ends about', text(time(one.expectedEndAt))],
      ['By', text(one.operatorName)],
      ['Begun', text(time(one.createdAt))],
      ['Ended', text(time(one.endedAt))],
      ['Filter', text(JSON.stringify(one.filter))],
    ],
    tables: [
      {
        title: 'API keys',
        headings: ['Key', 'Mode', 'Total', 'Done', 'Left out', 'Waits for'],
        rows: one.keys.map((each) => [
          to('endpoint', each.keyId),
          ...texts(each.mode, each.total, each.done, each.leftOut, each.finished ? 'finished' : each.waits),
        ]),
      },
    ],
    actions: [
      ['Follow it', `svcadmin bulk show ${bulkId} --follow`],
      ['End it', `svcadmin bulk cancel ${bulkId}`],
    ],
  };
}

async function work(api: OpsApi): Promise<RecordPage> {
  const [jobs, endpoints] = await Promise.all([
    api.bulk.list({ limit: mostRows }),
    api.webhooks.health({ limit: 20 }),
  ]);
  return {
    title: 'Webhook endpoints and bulk work',
    facts: [['Bulk jobs that run', text(jobs.filter(({ status }) => status === 'running').length)]],
    tables: [
      endpointTable('Endpoints with failed or waiting deliveries, the worst first', endpoints),
      {
        title: 'Bulk jobs',
        headings: ['Job', 'What', 'Status', 'Done', 'Of', 'By', 'Begun'],
        rows: jobs.map((one) => [
          to('bulk', one.id),
          ...texts(one.action, one.status, one.done, one.total, one.operatorName, time(one.createdAt)),
        ]),
      },
    ],
    actions: [
      ['The same in a terminal', 'svcadmin webhooks health'],
      ['Bulk jobs that run', 'svcadmin bulk list --status running'],
    ],
  };
}

/** How the page of each kind of record is read. `work` has no record. */
export const recordPages: Readonly<Record<string, (api: OpsApi, id: string) => Promise<RecordPage>>> = {
  partner,
  endpoint,
  delivery,
  session,
  wallet,
  bulk,
  work,
};
