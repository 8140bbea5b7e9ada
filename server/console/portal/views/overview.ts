import { dollars } from '../../../../contracts/amounts.ts';
import type { Mode } from '../../../../contracts/identifiers.ts';
import { isAllowed } from '../calls/scope.ts';
import type { Messages } from '../messages/en.ts';
import { firstSteps } from './first-steps.ts';
import { modeOf } from './kit/forms.ts';
import type { PageContext, PageRow, Section } from './kit/page.ts';
import { link, percent, tableOf, text, time, toned } from './kit/text.ts';
import { openProblems, type Problem } from './warnings.ts';
import { needsAttention } from './webhooks/endpoint.ts';

/** Live first, because it is what members look for. */
const modes: readonly Mode[] = ['live', 'test'];

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

type Partner = Awaited<ReturnType<PageContext['api']['partners']['show']>>;
type Health = Awaited<ReturnType<PageContext['api']['webhooks']['health']>>[number];

/** An account that is not active gets no answer from the service. Only support can activate it. */
const inactiveProblem = ({ status, name }: Partner, m: Messages): Problem => ({
  text: `${m.accountInactive}: ${status}`,
  advice: m.fixInactive,
  about: text(name),
  since: null,
});

/** A failing endpoint, before it has failed long enough for a warning. */
const failingProblem = ({ keyId, mode, state, answers, failingSince }: Health, m: Messages): Problem => ({
  text: `${state}: ${answers[0]?.answer ?? '–'}`,
  advice: m.fixEndpoint,
  about: link(keyId, `/webhooks/${keyId}`, mode),
  since: failingSince,
});

async function view(context: PageContext) {
  const { api, m, role, partnerId, query } = context;
  const chosen = modeOf(query);
  // Some roles may not read the wallets.
  const shownModes = isAllowed(role, 'wallets.show') ? modes.filter((mode) => mode === (chosen ?? mode)) : [];
  const [partner, warnings, health, steps, wallets] = await Promise.all([
    api.partners.show({ partnerId }),
    api.warnings.list({ partnerId, state: 'raised', limit: mostShown }),
    api.webhooks.health({ partnerId, mode: chosen, limit: mostShown }),
    firstSteps(context),
    Promise.all(shownModes.map((mode) => walletOf(context, mode))),
  ]);
  const warned = new Set(warnings.map(({ about }) => about));
  const failing = health.filter(({ state, keyId }) => needsAttention(state) && !warned.has(keyId));
  const inactive = partner.status === 'active' ? [] : [inactiveProblem(partner, m)];
  const problems = [...inactive, ...failing.map((endpoint) => failingProblem(endpoint, m))];
  return {
    title: partner.name,
    sections: [
      openProblems(warnings, m, problems),
      ...wallets,
      ...(steps ? [steps] : []),
      {
        title: m.webhooks,
        empty: m.emptyWebhooks,
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
  { path: '/', nav: 'overview', modes: 'any', needs: 'partners.show', view },
];
