import { change, keepOldField, keepOldOf, modeField, modeOf, secretTable } from './forms.ts';
import type { Action, PageContext, PageRow, View } from './page.ts';
import { filled, link, nextPage, pageSize, text, time } from './text.ts';

async function list({ api, m, partnerId, query }: PageContext): Promise<View> {
  const { after = '' } = query;
  const keys = await api.keys.list({ partnerId, limit: pageSize, ...filled({ after }) });
  return {
    title: m.keys,
    sections: [
      {
        title: m.keys,
        table: {
          headings: [m.id, m.mode, m.status, m.secret, m.lastUsed, m.rotated],
          rows: keys.map(({ id, mode, status, last4, lastUsedAt, rotatedAt }) => [
            link(id, `/keys/${id}`),
            text(mode),
            text(status),
            text(`…${last4}`),
            time(lastUsedAt),
            time(rotatedAt),
          ]),
        },
        next: nextPage('/keys', keys),
      },
      { title: m.createKey, forms: [{ act: 'create', fields: [modeField(m)], submit: m.create }] },
    ],
  };
}

async function show({ api, m, params }: PageContext): Promise<View> {
  const key = await api.keys.show({ keyId: params['key'] ?? '' });
  const secrets = [{ last4: key.last4, lastUsedAt: key.lastUsedAt, expiresAt: null }, ...key.oldSecrets];
  const isActive = key.status === 'active';
  return {
    title: `${m.key} …${key.last4}`,
    sections: [
      {
        title: key.id,
        facts: [
          [m.mode, text(key.mode)],
          [m.status, text(key.status)],
          [m.created, time(key.createdAt)],
          [m.rotated, time(key.rotatedAt)],
          [m.webhooks, link(key.webhookUrl ?? m.none, `/webhooks/${key.id}`)],
        ],
        links: [{ text: m.clients, to: `/clients?key=${key.id}` }],
      },
      {
        title: m.secrets,
        table: secretTable(m, secrets),
        note: m.leakNote,
        forms: isActive
          ? [
              { act: 'rotate', fields: [keepOldField(m)], submit: m.rotateKey },
              { act: 'revoke', fields: [], submit: m.revoke, danger: true },
            ]
          : [],
      },
    ],
  };
}

const create: Action = async ({ api, m, partnerId }, given) => {
  const { id, apiKey } = await api.keys.create({ partnerId, mode: modeOf(given) });
  return { secret: { label: `${m.key}: ${id}`, value: apiKey } };
};

const rotate: Action = async ({ api, m, params }, given) => {
  const { apiKey } = await api.keys.rotate({ keyId: params['key'] ?? '', ...keepOldOf(given) });
  return { secret: { label: m.key, value: apiKey } };
};

const revoke = change(({ api, params }) => api.keys.revoke({ keyId: params['key'] ?? '' }));

export const keyPages: readonly PageRow[] = [
  { path: '/keys', nav: 'keys', needs: 'keys.list', changes: 'keys.create', view: list, actions: { create } },
  { path: '/keys/:key', needs: 'keys.show', changes: 'keys.rotate', view: show, actions: { rotate, revoke } },
];
