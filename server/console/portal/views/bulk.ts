import { asking } from './kit/ask.ts';
import { checkedByProcedure, spanIn, withoutResult } from './kit/forms.ts';
import type { Action, PageContext, PageRow, Question, View } from './kit/page.ts';
import { text, time } from './kit/text.ts';

/** Sends the failed, skipped or delivered events of a time span again. */
export const resendSpan: Action = async ({ api, partnerId, m }, given) => {
  const { key = '', status } = given;
  const { job } = await api.bulk.start({
    action: 'resend',
    filter: {
      partnerId,
      keyId: key,
      status: checkedByProcedure(status),
      ...spanIn(given),
    },
  });
  return job ? { to: `/bulk/${job.id}` } : { text: { label: m.resendSpan, value: m.nothingFound } };
};

const bulkReference = ({ params }: PageContext) => ({ bulkId: params['bulk'] ?? '' });

async function showBulk(context: PageContext): Promise<View> {
  const { api, m } = context;
  const job = await api.bulk.show(bulkReference(context));
  const isRunning = job.status === 'running';
  return {
    title: m.progress,
    refresh: isRunning ? 5 : undefined,
    done: { text: `${m.progress}: ${job.status}, ${job.done} / ${job.total}` },
    sections: [
      {
        title: job.id,
        facts: [
          [m.status, text(job.status)],
          [m.progress, text(`${job.done} / ${job.total}`)],
          [m.leftOut, text(job.leftOut)],
          [m.from, time(job.filter.since)],
          [m.until, time(job.filter.until)],
          [m.expectedEnd, time(job.expectedEndAt)],
        ],
        forms: [isRunning && { act: 'cancel', fields: [], submit: m.cancel, danger: true }],
      },
    ],
  };
}

/** Live and test deliveries can be in one job, so it always asks. */
const askToCancel = async (context: PageContext): Promise<Question> => {
  const { m, api } = context;
  const { id, done, total } = await api.bulk.show(bulkReference(context));
  return { text: m.endsDelivery, facts: [[m.progress, text(`${id}: ${done} / ${total}`)]] };
};

const cancel = withoutResult((context) => context.api.bulk.cancel(bulkReference(context)));

export const bulkPages: readonly PageRow[] = [
  {
    path: '/bulk/:bulk',
    needs: 'bulk.show',
    changes: 'bulk.cancel',
    view: showBulk,
    actions: { cancel: asking('bulk.cancel', askToCancel, cancel) },
  },
];
