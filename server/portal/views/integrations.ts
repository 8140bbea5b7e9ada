import { change, keepOldField, keepOldOf, secretTable, select } from './forms.ts';
import type { Action, PageContext, PageRow, Section, View } from './page.ts';
import { link, options, text, time, wordsOf } from './text.ts';

const mostShown = 50;
const integrationOf = ({ params }: PageContext) => ({ integrationId: params['integration'] ?? '' });

/** The integrations of a storefront client, with a form for another one. */
export async function integrationsOf({ api, m, partnerId }: PageContext, clientId: string): Promise<Section> {
  const integrations = await api.integrations.list({ partnerId, clientId, limit: mostShown });
  return {
    title: m.integrations,
    table: {
      headings: [m.id, m.shops, m.status, m.secret, m.lastUsed],
      rows: integrations.map((one) => [
        link(one.id, `/integrations/${one.id}`),
        text(one.shops.join(' ')),
        text(one.status),
        text(one.last4 && `…${one.last4}`),
        time(one.lastUsedAt),
      ]),
    },
    forms: [
      {
        act: 'integrate',
        fields: [{ name: 'shops', label: m.shops, kind: 'lines', placeholder: 'shop.example' }],
        submit: m.createIntegration,
      },
    ],
  };
}

export const integrate: Action = async ({ api, m, partnerId, params }, { shops }) => {
  const wanted = { partnerId, clientId: params['client'] ?? '', shops: wordsOf(shops) };
  const { id, integrationSecret } = await api.integrations.create(wanted);
  return { secret: { label: `${m.secret}: ${id}`, value: integrationSecret } };
};

async function show(context: PageContext): Promise<View> {
  const { api, m } = context;
  const one = await api.integrations.show(integrationOf(context));
  const isActive = one.status === 'active';
  const present = { last4: one.last4, lastUsedAt: one.lastUsedAt, expiresAt: null };
  const secrets = one.oldSecret ? [present, one.oldSecret] : [present];
  return {
    title: m.integration,
    sections: [
      {
        title: one.id,
        facts: [
          [m.status, text(one.status)],
          [m.mode, text(one.mode)],
          [m.client, link(one.clientId, `/clients/${one.clientId}`)],
          [m.created, time(one.createdAt)],
          [m.rotated, time(one.rotatedAt)],
        ],
        forms: isActive ? [{ act: 'disable', fields: [], submit: m.disable, danger: true }] : [],
      },
      {
        title: m.shops,
        table: { headings: [m.shop], rows: one.shops.map((shop) => [text(shop)]) },
        forms: [
          { act: 'addShop', fields: [{ name: 'shop', label: m.shop }], submit: m.add },
          {
            act: 'removeShop',
            fields: [select('shop', m.shop, options(one.shops))],
            submit: m.remove,
            danger: true,
          },
        ],
      },
      {
        title: m.secrets,
        table: secretTable(m, secrets),
        forms: isActive ? [{ act: 'rotate', fields: [keepOldField(m)], submit: m.rotateSecret }] : [],
      },
    ],
  };
}

export const integrationPages: readonly PageRow[] = [
  {
    path: '/integrations/:integration',
    needs: 'integrations.show',
    changes: 'integrations.update',
    view: show,
    actions: {
      addShop: change((context, { shop = '' }) =>
        context.api.integrations.update({ ...integrationOf(context), addShops: [shop] }),
      ),
      removeShop: change((context, { shop = '' }) =>
        context.api.integrations.update({ ...integrationOf(context), removeShops: [shop] }),
      ),
      disable: change((context) => context.api.integrations.disable(integrationOf(context))),
      rotate: async (context, given) => {
        const { integrationSecret } = await context.api.integrations.rotateSecret({
          ...integrationOf(context),
          ...keepOldOf(given),
        });
        return { secret: { label: context.m.secret, value: integrationSecret } };
      },
    },
  },
];
