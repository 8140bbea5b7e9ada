import { dollars } from '../../../contracts/amounts.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { isAllowed } from '../scope.ts';
import type { PageContext, PageRow, Section } from './page.ts';
import { link, percent, tableOf, text, time, toned } from './text.ts';
import { openWarnings } from './warnings.ts';
import { needsAttention } from './webhooks.ts';

/** Live first, because it is what members look for. */
const modes: readonly Mode[] = ['live', 'test'];

/** The most warnings, and the most endpoints, that the page shows. */
const mostShown = 20;

async function walletOf({ api, m, partnerId }: PageContext, mode: Mode): Promise<Section> {
  const [wallet, today] = await Promise.all([
    api.wallets.show({ partnerId, mode }),
    api.wallets.usage({ partnerId, mode, days: 1 }),
  ]);
  return {
    title: `${m.wallet}: ${mode}`,
    facts: [
      [m.balance, { text: dollars(wallet.balance), to: `/wallet?mode=${mode}` }],
      [m.daysLeft, text(wallet.daysLeft === null ? null : Math.floor(wallet.daysLeft))],
      [m.spentPerDay, text(dollars(wallet.spentPerDay))],
      [m.chargesToday, text(today.days[0]?.charges ?? 0)],
    ],
  };
}

async function view(context: PageContext) {
  const { api, m, role, partnerId } = context;
  // Some roles may not read the wallets.
  const shownModes = isAllowed(role, 'wallets.show') ? modes : [];
  const [partner, warnings, health, wallets] = await Promise.all([
    api.partners.show({ partnerId }),
    api.warnings.list({ partnerId, state: 'raised', limit: mostShown }),
    api.webhooks.health({ partnerId, limit: mostShown }),
    Promise.all(shownModes.map((mode) => walletOf(context, mode))),
  ]);
  return {
    title: partner.name,
    sections: [
      openWarnings(warnings, m),
      ...wallets,
      {
        title: m.webhooks,
        table: tableOf(health, [
          [m.key, ({ keyId }) => link(keyId, `/webhooks/${keyId}`)],
          [m.mode, ({ mode }) => text(mode)],
          [m.status, ({ state }) => toned(state, needsAttention(state) ? 'bad' : undefined)],
          [m.successShare, ({ successShare }) => percent(successShare)],
          [m.lastSuccess, ({ lastSuccessAt }) => time(lastSuccessAt)],
        ]),
      },
    ],
  };
}

export const overviewPages: readonly PageRow[] = [
  { path: '/', nav: 'overview', needs: 'partners.show', view },
];
