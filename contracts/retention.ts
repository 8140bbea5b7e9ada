const day = 86_400_000;

/** How long records are kept, in milliseconds. docs/retention.md says from when. */
export const retentionMs = {
  request: 7 * day,
  answer: 7 * day,
  event: 30 * day,
  session: 30 * day,
  grant: 30 * day,
  warning: 30 * day,
  bulkJob: 60 * day,
} as const;

/** The longest legal hold on a user's records, in days: three years. */
export const longestHoldDays = 1_095;

/** What is left of a closed partner, until when, and why or how it goes. `until` is null if no date ends it. */
export interface Remainder {
  what: string;
  until: string | null;
  how: string;
}

/**
 * Lists the records of a closed partner in the order in which they are deleted.
 * @param closedAt when the partner was closed, as RFC 3339
 */
export function remaindersOf(closedAt: string): Remainder[] {
  const kept: [what: string, ms: number][] = [
    ['requests in the log', retentionMs.request],
    ['answers of its receivers', retentionMs.answer],
    ['events and deliveries', retentionMs.event],
    ['sessions', retentionMs.session],
    ['claims that it bought', retentionMs.grant],
    ['warnings', retentionMs.warning],
    ['bulk jobs', retentionMs.bulkJob],
  ];
  return [
    ...kept.map(([what, ms]) => {
      const until = new Date(Date.parse(closedAt) + ms).toISOString();
      return { what, until, how: 'deleted by then' };
    }),
    { what: 'members and their addresses', until: null, how: 'until members remove' },
    {
      what: 'addresses of contacts and warnings',
      until: null,
      how: 'until partners update and warnings set',
    },
    { what: 'users and enrollments', until: null, how: 'users may be of other partners: until users erase' },
    { what: 'ledger and audit log', until: null, how: 'kept by law' },
    {
      what: 'the partner, its keys, clients and integrations',
      until: null,
      how: 'kept, the ledger names them',
    },
  ];
}
