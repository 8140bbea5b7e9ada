import type { UpdateIntegration } from '../../../../../contracts/admin/integrations.ts';
import { asking } from '../kit/ask.ts';
import { select, withoutResult } from '../kit/forms.ts';
import type { Action, Given, PageContext, PageRow, Question, Section, View } from '../kit/page.ts';
import { rotation, rotationForm, secretTable } from '../kit/rotation.ts';
import { link, options, tableOf, text, time, wordsOf } from '../kit/text.ts';

const mostShown = 50;
const integrationReference = ({ params }: PageContext) => ({ integrationId: params['integration'] ?? '' });

export async function integrationsOf({ api, m, partnerId }: PageContext, clientId: string): Promise<Section> {
  const integrations = await api.integrations.list({ partnerId, clientId, limit: mostShown });
  return {
    title: m.integrations,
    table: tableOf(integrations, [
      [m.id, ({ id }) => link(id, `/integrations/${id}`)],
      [m.shops, ({ shops }) => text(shops.join(' '))],
      [m.status, ({ status }) => text(status)],
      [m.secret, ({ last4 }) => text(last4 && `…${last4}`)],
      [m.lastUsed, ({ lastUsedAt }) => time(lastUsedAt)],
    ]),
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
  const integration = await api.integrations.show(integrationReference(context));
  const { shops, oldSecret } = integration;
  // A disabled integration cannot be changed any more.
  const isActive = integration.status === 'active';
  return {
    title: m.integration,
    sections: [
      {
        title: integration.id,
        facts: [
          [m.status, text(integration.status)],
          [m.mode, text(integration.mode)],
          [m.client, link(integration.clientId, `/clients/${integration.clientId}`)],
          [m.created, time(integration.createdAt)],
          [m.rotated, time(integration.rotatedAt)],
        ],
        forms: [isActive && { act: 'disable', fields: [], submit: m.disable, danger: true }],
      },
      {
        title: m.shops,
        table: tableOf(shops, [[m.shop, text]]),
        forms: [
          isActive && {
            act: 'addShop',
            fields: [{ name: 'shop', sets: ['addShops'], label: m.shop }],
            submit: m.add,
          },
          isActive && {
            act: 'removeShop',
            fields: [{ ...select('shop', m.shop, options(shops)), sets: ['removeShops'] }],
            submit: m.remove,
            danger: true,
          },
        ],
      },
      {
        title: m.secrets,
        table: secretTable(m, integration, oldSecret ? [oldSecret] : []),
        forms: [isActive && rotationForm(m, m.rotateSecret)],
      },
    ],
  };
}

/** Makes an action that adds or removes shops. @param changesIn returns the shops of a form */
const update = (changesIn: (given: Given) => Omit<UpdateIntegration, 'integrationId'>): Action =>
  withoutResult((context, given) =>
    context.api.integrations.update({ ...integrationReference(context), ...changesIn(given) }),
  );

/** What uses a live integration, or one shop of it. */
async function usesOf(context: PageContext, shop?: string): Promise<Pick<Question, 'facts'> | undefined> {
  const { api, m } = context;
  const { id, mode, shops, lastUsedAt } = await api.integrations.show(integrationReference(context));
  if (mode !== 'live') return undefined;
  return {
    facts: [
      [m.integration, { text: id }],
      [m.shops, { text: shop ?? shops.join(' ') }],
      [m.lastUsed, time(lastUsedAt)],
    ],
  };
}

/** Asks before a shop or an integration in live mode ends. */
const askToEnd =
  (text: 'endsShop' | 'endsIntegration') =>
  async (context: PageContext, { shop }: Given): Promise<Question | undefined> => {
    const uses = await usesOf(context, shop);
    return uses && { ...uses, text: context.m[text] };
  };

export const integrationPages: readonly PageRow[] = [
  {
    path: '/integrations/:integration',
    needs: 'integrations.show',
    changes: 'integrations.update',
    view: show,
    actions: {
      addShop: update(({ shop = '' }) => ({ addShops: [shop] })),
      removeShop: asking(
        'integrations.update',
        askToEnd('endsShop'),
        update(({ shop = '' }) => ({ removeShops: [shop] })),
      ),
      disable: asking(
        'integrations.disable',
        askToEnd('endsIntegration'),
        withoutResult((context) => context.api.integrations.disable(integrationReference(context))),
      ),
      rotate: rotation('integrations.rotateSecret', usesOf, async (context, keepOld) => {
        const reference = integrationReference(context);
        const rotated = await context.api.integrations.rotateSecret({ ...reference, ...keepOld });
        const { integrationSecret: value, oldSecret } = rotated;
        return { label: context.m.secret, value, oldUntil: oldSecret?.expiresAt };
      }),
    },
  },
];
