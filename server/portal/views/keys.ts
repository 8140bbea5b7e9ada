import { keepOldField, keepOldOf, modeField, modeOf, secretTable, withoutResult } from './forms.ts';
import { listView, pageSize } from './list.ts';
import type { Action, PageContext, PageRow, View } from './page.ts';
import { link, text, time } from './text.ts';

/** The input that names the API key of the page's path. */
const keyReference = ({ params }: PageContext) => ({ keyId: params['key'] ?? '' });

async function list(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const keys = await api.keys.list({ partnerId, after: query['after'], limit: pageSize });
  return listView(context, {
    path: '/keys',
    title: m.keys,
    rows: keys,
    columns: [
      [m.id, ({ id }) => link(id, `/keys/${id}`)],
      [m.mode, ({ mode }) => text(mode)],
      [m.status, ({ status }) => text(status)],
      [m.secret, ({ last4 }) => text(`…${last4}`)],
      [m.lastUsed, ({ lastUsedAt }) => time(lastUsedAt)],
      [m.rotated, ({ rotatedAt }) => time(rotatedAt)],
    ],
    below: [{ title: m.createKey, forms: [{ act: 'create', fields: [modeField(m)], submit: m.create }] }],
  });
}

async function show(context: PageContext): Promise<View> {
  const { api, m } = context;
  const key = await api.keys.show(keyReference(context));
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
        table: secretTable(m, key, key.oldSecrets),
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

const rotate: Action = async (context, given) => {
  const { api, m } = context;
  const { apiKey } = await api.keys.rotate({ ...keyReference(context), ...keepOldOf(given) });
  return { secret: { label: m.key, value: apiKey } };
};

const revoke = withoutResult((context) => context.api.keys.revoke(keyReference(context)));

export const keyPages: readonly PageRow[] = [
  { path: '/keys', nav: 'keys', needs: 'keys.list', changes: 'keys.create', view: list, actions: { create } },
  { path: '/keys/:key', needs: 'keys.show', changes: 'keys.rotate', view: show, actions: { rotate, revoke } },
];
