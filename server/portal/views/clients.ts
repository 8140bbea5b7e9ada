import { claimNames } from '../../../contracts/claims.ts';
import { claimFields, claimsIn } from './client.ts';
import { asGiven, keyOptions } from './forms.ts';
import type { Action, PageContext, PageRow, View } from './page.ts';
import { filled, link, options, text, time, wordsOf } from './text.ts';

const page = { limit: 50 };
const statuses = ['active', 'disabled'];
type Wanted = Parameters<PageContext['api']['clients']['list']>[0];

async function list(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const { after = '', key = '', status = '' } = query;
  const [clients, keys] = await Promise.all([
    api.clients.list({
      ...{ partnerId, ...page },
      ...filled({ after, keyId: key, status: asGiven<NonNullable<Wanted>['status']>(status) }),
    }),
    keyOptions(context),
  ]);
  const last = clients.length === page.limit ? clients.at(-1) : undefined;
  const next = last && new URLSearchParams({ ...filled({ key, status }), after: last.id }).toString();
  return {
    title: m.clients,
    sections: [
      {
        title: m.clients,
        search: {
          fields: [
            {
              ...{ name: 'key', label: m.key, kind: 'select', value: key },
              options: [{ value: '', text: '–' }, ...keys],
            },
            {
              name: 'status',
              label: m.status,
              kind: 'select',
              value: status,
              options: options(statuses, '–'),
            },
          ],
          submit: m.find,
        },
        table: {
          headings: [m.id, m.label, m.kind, m.mode, m.status, m.created],
          rows: clients.map(({ id, name, kind, mode, status: state, createdAt }) => [
            link(id, `/clients/${id}`),
            text(name),
            text(kind),
            text(mode),
            text(state),
            time(createdAt),
          ]),
        },
        next: next && `/clients?${next}`,
      },
      {
        title: m.createClient,
        forms: [
          {
            act: 'create',
            fields: [
              { name: 'name', label: m.label },
              { name: 'keyId', label: m.key, kind: 'select', options: keys },
              { name: 'kind', label: m.kind, kind: 'select', options: options(['oauth', 'storefront']) },
              { name: 'redirectUris', label: m.redirectUrisLines, kind: 'lines' },
              ...claimFields(claimNames.slice(1, 2)),
            ],
            submit: m.create,
          },
        ],
      },
    ],
  };
}

const create: Action = async ({ api, partnerId, m }, given) => {
  const { name = '', keyId = '', kind, redirectUris } = given;
  const { id, clientSecret } = await api.clients.create({
    ...{ partnerId, name, keyId },
    kind: asGiven<'oauth' | 'storefront' | undefined>(kind),
    redirectUris: wordsOf(redirectUris),
    claims: claimsIn(given),
  });
  return { secret: { label: `${m.secret}: ${id}`, value: clientSecret } };
};

export const clientPages: readonly PageRow[] = [
  {
    path: '/clients',
    nav: 'clients',
    needs: 'clients.list',
    changes: 'clients.create',
    view: list,
    actions: { create },
  },
];
