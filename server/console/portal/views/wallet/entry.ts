import { dollars } from '../../../../../contracts/amounts.ts';
import type { Cell, PageContext, PageRow, View } from '../kit/page.ts';
import { linkIfAllowed, queryOf, text, time, toned } from '../kit/text.ts';

/** An amount in dollars. What the wallet gets is green. */
export const movedAmount = (cents: number): Cell => toned(dollars(cents), cents < 0 ? undefined : 'good');

export const entryPage = { path: '/wallet/entries', needs: 'wallets.entry' };
export const sessionPage = { path: '/sessions', needs: 'sessions.show' };
const clientPage = { path: '/clients', needs: 'clients.show' };
const userPage = { path: '/users', needs: 'enrollments.show' };

/** The period of the UTC day in which an entry was written. The end is not included. */
function dayOf(at: string): { from: string; to: string } {
  const from = at.slice(0, 10);
  const next = new Date(Date.parse(from) + 86_400_000);
  return { from, to: next.toISOString().slice(0, 10) };
}

async function view(context: PageContext): Promise<View> {
  const { api, m, params } = context;
  const entry = await api.wallets.entry({ entryId: params['entry'] ?? '' });
  return {
    title: m.entry,
    sections: [
      {
        title: entry.id,
        facts: [
          [m.time, time(entry.at)],
          [m.kind, text(entry.kind)],
          [m.mode, text(entry.mode)],
          [m.amount, movedAmount(entry.amount)],
          [m.balance, text(dollars(entry.balanceAfter))],
          [m.reference, text(entry.reference)],
          [m.reason, text(entry.reason)],
          [m.client, linkIfAllowed(context, entry.clientId, clientPage)],
          [m.session, linkIfAllowed(context, entry.sessionId, sessionPage)],
          [m.user, linkIfAllowed(context, entry.enrollmentId, userPage)],
          // A refund names its charge, and a charge its refund.
          [m.charge, linkIfAllowed(context, entry.of, entryPage)],
          [m.refund, linkIfAllowed(context, entry.givenBackBy, entryPage)],
        ],
        links: [
          { text: m.statementOfDay, to: `/wallet?${queryOf({ mode: entry.mode, ...dayOf(entry.at) })}` },
        ],
      },
    ],
  };
}

export const entryPages: readonly PageRow[] = [
  { path: `${entryPage.path}/:entry`, needs: entryPage.needs, view },
];
