import { asking } from '../kit/ask.ts';
import { modeField, modeOf, withoutResult } from '../kit/forms.ts';
import { listView, pageOf, pageSize } from '../kit/list.ts';
import type { Action, PageContext, PageRow, Question, View } from '../kit/page.ts';
import { keepOldForADay, rotation, rotationForm, secretTable } from '../kit/rotation.ts';
import { link, tableOf, text, time } from '../kit/text.ts';

const keyReference = ({ params }: PageContext) => ({ keyId: params['key'] ?? '' });

async function list(context: PageContext): Promise<View> {
  const { api, m, query } = context;
  const keys = await api.keys.list({ ...pageOf(context), mode: modeOf(query) });
  return listView(context, 'keys', {
    empty: m.emptyKeys,
    rows: keys,
    columns: [
      [m.id, ({ id }) => link(id, `/keys/${id}`)],
      [m.mode, ({ mode }) => text(mode)],
      [m.status, ({ status }) => text(status)],
      [m.secret, ({ last4 }) => text(`…${last4}`)],
      [m.lastUsed, ({ lastUsedAt }) => time(lastUsedAt)],
      [m.rotated, ({ rotatedAt }) => time(rotatedAt)],
    ],
    below: [
      {
        title: m.createKey,
        forms: [{ act: 'create', fields: [modeField(m, query['mode'])], submit: m.create }],
      },
    ],
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
          ? [rotationForm(m, m.rotateKey), { act: 'revoke', fields: [], submit: m.revoke, danger: true }]
          : [],
      },
    ],
  };
}

const create: Action = async ({ api, m, partnerId }, given) => {
  const { id, apiKey } = await api.keys.create({ partnerId, mode: modeOf(given) });
  return { secret: { label: `${m.key}: ${id}`, value: apiKey } };
};

/** What uses a live key: its active clients, its webhook URL, and its secret's last use. */
async function usesOf(context: PageContext): Promise<Pick<Question, 'facts' | 'table'> | undefined> {
  const { api, m, partnerId } = context;
  const { id, mode, webhookUrl, last4, lastUsedAt } = await api.keys.show(keyReference(context));
  if (mode !== 'live') return undefined;
  const clients = await api.clients.list({ partnerId, keyId: id, status: 'active', limit: pageSize });
  return {
    facts: [
      [m.key, text(`${id} …${last4}`)],
      [m.lastUsed, time(lastUsedAt)],
      [m.webhooks, text(webhookUrl)],
    ],
    table: tableOf(clients, [
      [m.client, ({ id: clientId }) => text(clientId)],
      [m.label, ({ name }) => text(name)],
    ]),
  };
}

const askToRevoke = async (context: PageContext): Promise<Question | undefined> => {
  const { m } = context;
  const uses = await usesOf(context);
  return uses && { ...uses, text: m.endsKey, gentle: { ...keepOldForADay(m), act: 'rotate' } };
};

const revoke = withoutResult((context) => context.api.keys.revoke(keyReference(context)));

export const keyPages: readonly PageRow[] = [
  {
    path: '/keys',
    nav: 'keys',
    modes: 'any',
    needs: 'keys.list',
    changes: 'keys.create',
    view: list,
    actions: { create },
  },
  {
    path: '/keys/:key',
    needs: 'keys.show',
    changes: 'keys.rotate',
    view: show,
    actions: {
      rotate: rotation('keys.rotate', usesOf, async (context, keepOld) => {
        const { apiKey, oldSecrets } = await context.api.keys.rotate({
          ...keyReference(context),
          ...keepOld,
        });
        return { label: context.m.key, value: apiKey, oldUntil: oldSecrets[0]?.expiresAt };
      }),
      revoke: asking('keys.revoke', askToRevoke, revoke),
    },
  },
];
