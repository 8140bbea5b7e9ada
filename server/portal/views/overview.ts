import { isAllowed } from '../scope.ts';
import { isCharge, startOfDay } from '../usage.ts';
import type { PageContext, PageRow, Section } from './page.ts';
import { dollars, link, text, time, toned } from './text.ts';
import { openWarnings } from './warnings.ts';

const modes = ['live', 'test'] as const;

/** The most entries of a day that are read. */
const mostOfDay = 1_000;

async function walletOf(
  { api, m, now, partnerId }: PageContext,
  mode: (typeof modes)[number],
): Promise<Section> {
  const [wallet, today] = await Promise.all([
    api.wallets.show({ partnerId, mode }),
    api.wallets.statement({ partnerId, mode, from: startOfDay(now), limit: mostOfDay }),
  ]);
  const charges = today.entries.filter(isCharge).length;
  return {
    title: `${m.wallet}: ${mode}`,
    facts: [
      [m.balance, { text: dollars(wallet.balance), to: `/wallet?mode=${mode}` }],
      [m.daysLeft, text(wallet.daysLeft === null ? null : Math.floor(wallet.daysLeft))],
      [m.spentPerDay, text(dollars(wallet.spentPerDay))],
      [m.chargesToday, text(`${charges}${today.more ? '+' : ''}`)],
    ],
  };
}

async function view(context: PageContext) {
  const { api, m, role, partnerId } = context;
  const [partner, warnings, health, wallets] = await Promise.all([
    api.partners.show({ partnerId }),
    api.warnings.list({ partnerId, state: 'raised', limit: 20 }),
    api.webhooks.health({ partnerId, limit: 20 }),
    isAllowed(role, 'wallets.show') ? Promise.all(modes.map((mode) => walletOf(context, mode))) : [],
  ]);
  return {
    title: partner.name,
    sections: [
      openWarnings(warnings, m),
      ...wallets,
      {
        title: m.webhooks,
        table: {
          headings: [m.key, m.mode, m.status, m.successShare, m.lastSuccess],
          rows: health.map(({ keyId, mode, state, successShare, lastSuccessAt }) => [
            link(keyId, `/webhooks/${keyId}`),
            text(mode),
            toned(state, state === 'dead' || state === 'failing' ? 'bad' : undefined),
            text(successShare === null ? null : `${Math.round(successShare * 100)} %`),
            time(lastSuccessAt),
          ]),
        },
      },
    ],
  };
}

export const overviewPages: readonly PageRow[] = [
  { path: '/', nav: 'overview', needs: 'partners.show', view },
];
