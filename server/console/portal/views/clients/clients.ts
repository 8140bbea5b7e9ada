import type { ClaimName } from '../../../../../contracts/claims.ts';
import { envOf } from '../first-steps.ts';
import { checkedByProcedure, claimFields, claimsIn, keyOptions, modeOf, select } from '../kit/forms.ts';
import { listView, pageOf } from '../kit/list.ts';
import type { Action, PageContext, PageRow, View } from '../kit/page.ts';
import { anyOption, link, options, text, time, wordsOf } from '../kit/text.ts';

const statuses = ['active', 'disabled'];
const proposedClaims: readonly ClaimName[] = ['age_18_plus'];

async function list(context: PageContext): Promise<View> {
  const { api, m, query } = context;
  const { key, status } = query;
  const [clients, keys] = await Promise.all([
    api.clients.list({
      ...pageOf(context),
      keyId: key,
      mode: modeOf(query),
      status: checkedByProcedure(status),
    }),
    keyOptions(context),
  ]);
  return listView(context, 'clients', {
    empty: m.emptyClients,
    search: [
      select('key', m.key, [anyOption, ...keys], key),
      select('status', m.status, [anyOption, ...options(statuses)], status),
    ],
    rows: clients,
    columns: [
      [m.id, (client) => link(client.id, `/clients/${client.id}`)],
      [m.label, (client) => text(client.name)],
      [m.kind, (client) => text(client.kind)],
      [m.mode, (client) => text(client.mode)],
      [m.status, (client) => text(client.status)],
      [m.created, (client) => time(client.createdAt)],
    ],
    below: [
      {
        title: m.createClient,
        ...(keys.length === 0 ? { links: [{ text: m.createKey, to: '/keys' }] } : {}),
        forms: [
          keys.length > 0 && {
            act: 'create',
            fields: [
              { name: 'name', label: m.label },
              select('keyId', m.key, keys),
              select('kind', m.kind, options(['oauth', 'storefront'])),
              { name: 'redirectUris', label: m.redirectUrisLines, kind: 'lines' },
              ...claimFields(m, proposedClaims),
            ],
            submit: m.create,
          },
        ],
      },
    ],
  });
}

/** Creates a client. The page that answers the form shows the secret, this once, also as a part of an `.env` to copy. */
const create: Action = async ({ api, partnerId, m, about }, given) => {
  const { name = '', keyId = '', kind, redirectUris } = given;
  const uris = wordsOf(redirectUris);
  const { id, clientSecret } = await api.clients.create({
    partnerId,
    name,
    keyId,
    kind: checkedByProcedure(kind),
    redirectUris: uris,
    claims: claimsIn(given),
  });
  return {
    secret: { label: `${m.secret}: ${id}`, value: clientSecret },
    text: { label: '.env', value: envOf(about, { id, clientSecret, redirectUris: uris }) },
  };
};

export const clientPages: readonly PageRow[] = [
  {
    path: '/clients',
    nav: 'clients',
    modes: 'any',
    needs: 'clients.list',
    changes: 'clients.create',
    view: list,
    actions: { create },
  },
];
