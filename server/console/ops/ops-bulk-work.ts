import type { Api } from '../portal/views/kit/page.ts';
import { text, time } from '../portal/views/kit/text.ts';
import { endpointHeadings, endpointRow, link, type RecordPage, texts } from './ops-cells.ts';

const mostRows = 50;

export async function bulkPage(api: Api, bulkId: string): Promise<RecordPage> {
  const view = await api.bulk.show({ bulkId });
  return {
    title: `Bulk job ${bulkId}`,
    facts: [
      ['What', text(`${view.action}, ${view.rate}/s`)],
      ['Status', text(view.status)],
      [
        'Done',
        text(`${view.done} of ${view.exact ? '' : 'at most '}${view.total}, ${view.leftOut} left out`),
      ],
      ['Ends about', time(view.expectedEndAt)],
      ['By', text(view.operatorName)],
      ['Begun', time(view.createdAt)],
      ['Ended', time(view.endedAt)],
      ['Filter', text(JSON.stringify(view.filter))],
    ],
    tables: [
      {
        title: 'API keys',
        headings: ['Key', 'Mode', 'Total', 'Done', 'Left out', 'Waits for'],
        rows: view.keys.map(({ keyId, mode, total, done, leftOut, finished, waits }) => [
          link('endpoint', keyId),
          ...texts(mode, total, done, leftOut, finished ? 'finished' : waits),
        ]),
      },
    ],
    actions: [
      ['Follow it', `svcadmin bulk show ${bulkId} --follow`],
      ['End it', `svcadmin bulk cancel ${bulkId}`],
    ],
  };
}

export async function workPage(api: Api): Promise<RecordPage> {
  const [jobs, endpoints] = await Promise.all([
    api.bulk.list({ limit: mostRows }),
    api.webhooks.health({ limit: 20 }),
  ]);
  return {
    title: 'Webhook endpoints and bulk work',
    facts: [['Bulk jobs that run', text(jobs.filter(({ status }) => status === 'running').length)]],
    tables: [
      {
        title: 'Endpoints that failed, are slow or paused, or have waiting deliveries, the worst first',
        headings: ['Partner', ...endpointHeadings],
        rows: endpoints.map((health) => [
          link('partner', health.partnerId, health.partnerName ?? health.partnerId),
          ...endpointRow(health),
        ]),
      },
      {
        title: 'Bulk jobs',
        headings: ['What', 'Status', 'Done', 'Of', 'By', 'Begun', 'Job'],
        rows: jobs.map((job) => [
          link('bulk', job.id, job.action),
          ...texts(job.status, job.done, job.total, job.operatorName),
          time(job.createdAt),
          link('bulk', job.id),
        ]),
      },
    ],
    actions: [
      ['The same in a terminal', 'svcadmin webhooks health'],
      ['Bulk jobs that run', 'svcadmin bulk list --status running'],
    ],
  };
}
