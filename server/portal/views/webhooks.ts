import type { Action, PageContext, PageRow, Section, View } from './page.ts';
import { link, text, time } from './text.ts';

const keyOf = ({ params }: PageContext) => ({ keyId: params['key'] ?? '' });
type Endpoint = Awaited<ReturnType<PageContext['api']['webhooks']['show']>>;

async function list({ api, m, partnerId }: PageContext): Promise<View> {
  const [keys, health] = await Promise.all([
    api.keys.list({ partnerId, status: 'active', limit: 100 }),
    api.webhooks.health({ partnerId, limit: 50 }),
  ]);
  const stateOf = (keyId: string) => health.find((one) => one.keyId === keyId)?.state;
  return {
    title: m.webhooks,
    sections: [
      {
        title: m.webhooks,
        table: {
          headings: [m.key, m.mode, m.url, m.status],
          rows: keys.map(({ id, mode, webhookUrl }) => [
            link(id, `/webhooks/${id}`),
            text(mode),
            text(webhookUrl),
            text(stateOf(id)),
          ]),
        },
      },
    ],
  };
}

async function healthOf(context: PageContext): Promise<Section> {
  const { api, m } = context;
  const [health] = await api.webhooks.health(keyOf(context));
  if (!health) return { title: m.health, note: m.none };
  const { state, successShare, attempts, lastSuccessAt, failingSince, answers } = health;
  const isBad = state === 'dead' || state === 'failing';
  return {
    title: m.health,
    facts: [
      [m.status, { text: state, tone: isBad ? 'bad' : 'good' }],
      [m.successShare, text(successShare === null ? null : `${Math.round(successShare * 100)} %`)],
      [m.attempts, text(attempts)],
      [m.lastSuccess, time(lastSuccessAt)],
      [m.failingSince, time(failingSince)],
    ],
    table: {
      headings: [m.answers, m.total, m.from, m.until],
      rows: answers.map(({ answer, count, firstAt, lastAt }) => [
        text(answer),
        text(count),
        time(firstAt),
        time(lastAt),
      ]),
    },
  };
}

/** Where events go, and by which secret they are signed. */
function addressOf(endpoint: Endpoint, { m }: PageContext): Section {
  const url = { name: 'url', label: m.url, value: endpoint.url ?? '' };
  return {
    title: endpoint.url ?? m.url,
    facts: [
      [m.mode, text(endpoint.mode)],
      [m.secret, text(endpoint.last4 && `…${endpoint.last4}`)],
      [m.rotated, time(endpoint.rotatedAt)],
      [m.lastUsed, time(endpoint.lastUsedAt)],
    ],
    forms: [
      { act: 'set', fields: [url], submit: m.setUrl },
      ...(endpoint.url
        ? [
            { act: 'change', fields: [url], submit: m.changeUrl },
            { act: 'test', fields: [], submit: m.sendTest },
          ]
        : []),
    ],
  };
}

function secretOf(endpoint: Endpoint, { m }: PageContext): Section {
  const { prepared } = endpoint;
  return {
    title: m.secret,
    facts: [[m.prepared, prepared ? text(`…${prepared.last4} · ${prepared.preparedAt}`) : text(m.none)]],
    forms: [
      { act: 'prepare', fields: [], submit: m.prepare },
      ...(prepared
        ? [
            {
              act: 'switch',
              fields: [{ name: 'last4', label: '', kind: 'hidden' as const, value: prepared.last4 }],
              submit: m.switchSecret,
            },
          ]
        : []),
      { act: 'rotate', fields: [], submit: m.rotateNow, danger: true },
    ],
  };
}

async function show(context: PageContext): Promise<View> {
  const { m } = context;
  const { keyId } = keyOf(context);
  const endpoint = await context.api.webhooks.show({ keyId });
  const sections = [addressOf(endpoint, context)];
  if (endpoint.url) sections.push(secretOf(endpoint, context), await healthOf(context));
  return {
    title: `${m.webhooks}: ${endpoint.mode}`,
    sections: [
      ...sections,
      { title: m.deliveries, facts: [[m.deliveries, link(m.show, `/deliveries?key=${keyId}`)]] },
    ],
  };
}

const secret =
  (make: (context: PageContext, url: string) => Promise<{ signingSecret: string }>): Action =>
  async (context, { url = '' }) => {
    const { signingSecret } = await make(context, url.trim());
    return { secret: { label: context.m.secret, value: signingSecret } };
  };

export const webhookPages: readonly PageRow[] = [
  { path: '/webhooks', nav: 'webhooks', needs: 'webhooks.show', view: list },
  {
    path: '/webhooks/:key',
    needs: 'webhooks.show',
    changes: 'webhooks.set',
    view: show,
    actions: {
      set: secret((context, url) => context.api.webhooks.set({ ...keyOf(context), url })),
      prepare: secret((context) => context.api.webhooks.prepareSecret(keyOf(context))),
      rotate: secret((context) => context.api.webhooks.rotateSecret(keyOf(context))),
      change: async (context, { url = '' }) => {
        await context.api.webhooks.changeUrl({ ...keyOf(context), url: url.trim() });
        return undefined;
      },
      switch: async (context, { last4 = '' }) => {
        await context.api.webhooks.switchSecret({ ...keyOf(context), last4 });
        return undefined;
      },
      test: async (context) => {
        await context.api.webhooks.test(keyOf(context));
        return { to: `/deliveries?key=${keyOf(context).keyId}` };
      },
    },
  },
];
