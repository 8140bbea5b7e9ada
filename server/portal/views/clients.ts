import { claimNames } from '../../../contracts/claims.ts';
import { claimFields, claimsIn } from './client.ts';
import { asGiven, keyOptions, select } from './forms.ts';
import type { Action, PageContext, PageRow, View } from './page.ts';
import { filled, link, nextPage, options, pageSize, text, time, wordsOf } from './text.ts';

const statuses = ['active', 'disabled'];
type Wanted = Parameters<PageContext['api']['clients']['list']>[0];

async function list(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const { after = '', key = '', status = '' } = query;
  const [clients, keys] = await Promise.all([
    api.clients.list({
      partnerId,
      limit: pageSize,
      ...filled({ after, keyId: key, status: asGiven<NonNullable<Wanted>['status']>(status) }),
    }),
    keyOptions(context),
  ]);
  return {
    title: m.clients,
    sections: [
      {
        title: m.clients,
        search: {
          fields: [
            select('key', m.key, [{ value: '', text: '–' }, ...keys], key),
            select('status', m.status, options(statuses, '–'), status),
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
        next: nextPage('/clients', clients, { asked: { key, status } }),
      },
      {
        title: m.createClient,
        forms: [
          {
            act: 'create',
            fields: [
              { name: 'name', label: m.label },
              select('keyId', m.key, keys),
              select('kind', m.kind, options(['oauth', 'storefront'])),
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
    partnerId,
    name,
    keyId,
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
