import { dollars } from '../../../contracts/amounts.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { adviseDelivery } from '../../../contracts/receiver-advice.ts';
import type { Api } from '../portal/views/kit/page.ts';
import { percent, text, time } from '../portal/views/kit/text.ts';
import { bulkPage, workPage } from './ops-bulk-work.ts';
import { endpointHeadings, endpointRow, link, type RecordPage, texts } from './ops-cells.ts';
import { schedulePage } from './ops-schedule.ts';

const mostRows = 50;

async function partnerPage(api: Api, partnerId: string): Promise<RecordPage> {
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
      ['Since', time(createdAt)],
      ['Live wallet', { text: dollars(live.balance), to: `/wallet/${partnerId}:live` }],
      ['Test wallet', { text: dollars(test.balance), to: `/wallet/${partnerId}:test` }],
    ],
    tables: [
      {
        title: 'Webhook endpoints, the worst first',
        headings: endpointHeadings,
        rows: endpoints.map(endpointRow),
      },
      {
        title: 'API keys',
        headings: ['Ends in', 'Mode', 'Status', 'URL', 'Key'],
        rows: keys.map((key) => [
          link('endpoint', key.id, `…${key.last4}`),
          ...texts(key.mode, key.status, key.webhookUrl),
          link('endpoint', key.id),
        ]),
      },
      {
        title: 'Last sessions',
        headings: ['Status', 'Why not', 'Begun', 'Mode', 'Session'],
        rows: sessions.rows.map(({ id, mode, status: state, reason, createdAt: begunAt }) => [
          link('session', id, state),
          text(reason),
          time(begunAt),
          text(mode),
          link('session', id),
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

async function endpointPage(api: Api, keyId: string): Promise<RecordPage> {
  const [[health], { url, setAt, secretVersion }, deliveries] = await Promise.all([
    api.webhooks.health({ keyId, limit: 1 }),
    api.webhooks.show({ keyId }),
    api.deliveries.list({ keyId, limit: mostRows }),
  ]);
  if (!health) throw new Error(`no health of ${keyId}`);
  return {
    title: `Endpoint of ${keyId}`,
    facts: [
      ['Partner', link('partner', health.partnerId)],
      ['Mode', text(health.mode)],
      ['URL', text(url)],
      ['State', text(health.state)],
      ['Success', text(`${percent(health.successShare).text} of ${health.attempts} attempts`)],
      ['Failing since', time(health.failingSince)],
      ['Last success', time(health.lastSuccessAt)],
      ['p50, p95', text(`${health.p50Ms ?? '–'} ms, ${health.p95Ms ?? '–'} ms`)],
      ['Due', text(health.cause === null ? health.queued : `${health.queued}: ${health.cause}`)],
      ['Secret', text(`version ${secretVersion}, URL set ${time(setAt).text}`)],
    ],
    tables: [
      {
        title: 'Answers, within a day',
        headings: ['Answer', 'Share', 'First seen', 'Last seen'],
        rows: health.answers.map(({ answer, count, firstAt, lastAt }) => [
          text(answer),
          percent(count / health.attempts),
          time(firstAt),
          time(lastAt),
        ]),
      },
      {
        title: 'Last deliveries',
        headings: ['Status', 'Attempts', 'Made', 'Next attempt', 'Event', 'Delivery'],
        rows: deliveries.map(({ id, event, waiting, status, attempts, nextAttemptAt, createdAt }) => [
          link('delivery', id, waiting ? `waiting: ${waiting}` : status),
          text(attempts.length),
          time(createdAt),
          time(nextAttemptAt),
          text(event),
          link('delivery', id),
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

async function deliveryPage(api: Api, deliveryId: string): Promise<RecordPage> {
  const view = await api.deliveries.show({ deliveryId });
  // The server refuses both for a delivery that has ended.
  const changes: RecordPage['actions'] =
    view.status === 'pending'
      ? [
          ['Move the next attempt', `svcadmin deliveries reschedule ${deliveryId} --in 30m`],
          ['Make no more attempts', `svcadmin deliveries cancel ${deliveryId}`],
        ]
      : [];
  return {
    title: `Delivery ${deliveryId}`,
    facts: [
      ['Event', text(`${view.event} (${view.eventId})`)],
      ['Partner', link('partner', view.partnerId)],
      ['Endpoint', link('endpoint', view.keyId)],
      ['Mode', text(view.mode)],
      ['Status', text(view.waiting ? `waiting: ${view.waiting}` : (view.skipped ?? view.status))],
      ['What to do', text(adviseDelivery(view) ?? null)],
      ['Next attempt', time(view.nextAttemptAt)],
      ['Goes to', text(view.to)],
      ['Repeats', view.resendOf ? link('delivery', view.resendOf) : text(null)],
      ['Made', time(view.createdAt)],
    ],
    tables: [
      {
        title: 'Attempts',
        headings: ['At', 'No.', 'Why', 'Answer', 'In words', 'Address', 'Took', 'Body'],
        rows: view.attempts.map(
          ({ at, attempt, trigger, status, error, detail, address, durationMs, answer }) => [
            time(at),
            ...texts(
              attempt,
              trigger,
              status ?? error,
              detail,
              address,
              durationMs === null ? null : `${durationMs} ms`,
              answer,
            ),
          ],
        ),
      },
    ],
    actions: [
      ['What became of its event, and what to do', `svcadmin events why ${view.eventId}`],
      ['Send it again', `svcadmin deliveries resend ${deliveryId}`],
      ...changes,
    ],
  };
}

async function sessionPage(api: Api, sessionId: string): Promise<RecordPage> {
  const view = await api.sessions.show({ sessionId });
  return {
    title: `Session ${sessionId}`,
    facts: [
      ['Partner', link('partner', view.partnerId)],
      ['Key', link('endpoint', view.keyId)],
      ['Client', text(view.clientId)],
      ['Mode', text(view.mode)],
      ['Status', text(view.expired ? `${view.status}, expired` : view.status)],
      ['Why not', text(view.failure && `${view.failure.reason}: ${view.failure.text}`)],
      ['Source', text(view.source)],
      ['Code', text(view.code?.state ?? null)],
      ['Charge', text(view.code?.charge?.id ?? null)],
    ],
    tables: [
      {
        title: 'Steps',
        headings: ['At', 'Step', 'More'],
        rows: view.timeline.map(({ at, event, note }) => [time(at), ...texts(event, note)]),
      },
    ],
    actions: [
      ['See all of it', `svcadmin show ${sessionId}`],
      ['Its events', `svcadmin events list --session ${sessionId}`],
      ['Its requests', `svcadmin requests list --session ${sessionId}`],
    ],
  };
}

async function walletPage(api: Api, id: string): Promise<RecordPage> {
  const [partnerId = '', mode = ''] = id.split(':');
  // The procedures refuse any other mode than `live` and `test`, and the page is then not found.
  const reference = { partnerId, mode: mode as Mode };
  const [view, { perMinute, perHour, used }] = await Promise.all([
    api.wallets.show(reference),
    api.limits.show(reference),
  ]);
  return {
    title: `${mode === 'live' ? 'Live' : 'Test'} wallet of ${partnerId}`,
    facts: [
      ['Partner', link('partner', partnerId)],
      ['Balance', text(dollars(view.balance))],
      ['Days left', text(view.daysLeft)],
      ['Spent a day', text(dollars(view.spentPerDay))],
      ['Entries', text(view.entries)],
      ['This minute', text(`${used.minute} of ${perMinute}`)],
      ['This hour', text(`${used.hour} of ${perHour}`)],
    ],
    tables: [],
    actions: [
      ['Its entries', `svcadmin wallets statement ${partnerId} --mode ${mode} --from 7d`],
      ['Fund it', `svcadmin wallets fund ${partnerId} --mode ${mode} --amount 50.00 --reference INVOICE`],
      ['Verify its ledger', `svcadmin wallets audit ${partnerId}`],
      ['Raise a cap', `svcadmin limits set ${partnerId} --mode ${mode} --per-minute N`],
      ['Who changed its caps', `svcadmin limits history ${partnerId} --mode ${mode}`],
    ],
  };
}

/** The function that makes the page of each kind of record. The pages `work` and `schedule` show no single record. */
export const recordPages: Readonly<Record<string, (api: Api, id: string) => Promise<RecordPage>>> = {
  partner: partnerPage,
  endpoint: endpointPage,
  delivery: deliveryPage,
  session: sessionPage,
  wallet: walletPage,
  bulk: bulkPage,
  work: workPage,
  schedule: schedulePage,
};
