import { claimNames } from '../../../contracts/claims.ts';
import { asGiven, keepOldField, keepOldOf } from './forms.ts';
import type { Action, PageContext, PageRow, Section, View } from './page.ts';
import { link, options, text, time, wordsOf } from './text.ts';

type Client = Awaited<ReturnType<PageContext['api']['clients']['show']>>;

const page = { limit: 50 };

/** The keys that a client can belong to. */
async function keyOptions({ api, partnerId }: PageContext) {
  const keys = await api.keys.list({ partnerId, status: 'active', limit: 100 });
  return keys.map(({ id, mode, last4 }) => ({ value: id, text: `${mode} …${last4}` }));
}

async function list(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const { after } = query;
  const [clients, keys] = await Promise.all([
    api.clients.list({ partnerId, ...page, ...(after ? { after } : {}) }),
    keyOptions(context),
  ]);
  const last = clients.length === page.limit ? clients.at(-1) : undefined;
  return {
    title: m.clients,
    sections: [
      {
        title: m.clients,
        table: {
          headings: [m.id, m.label, m.mode, m.status, m.created],
          rows: clients.map(({ id, name, mode, status, createdAt }) => [
            link(id, `/clients/${id}`),
            text(name),
            text(mode),
            text(status),
            time(createdAt),
          ]),
        },
        next: last && `/clients?after=${last.id}`,
      },
      {
        title: m.createClient,
        forms: [
          {
            act: 'create',
            fields: [
              { name: 'name', label: m.label },
              { name: 'keyId', label: m.key, kind: 'select', options: keys },
              { name: 'redirectUris', label: m.redirectUris, kind: 'lines' },
              { name: 'claims', label: `${m.claims}: ${claimNames.join(' ')}`, value: 'age_18_plus' },
              { name: 'kind', label: m.status, kind: 'select', options: options(['oauth', 'storefront']) },
            ],
            submit: m.create,
          },
        ],
      },
    ],
  };
}

const create: Action = async ({ api, partnerId, m }, { name = '', keyId = '', kind, ...given }) => {
  const { id, clientSecret } = await api.clients.create({
    ...{ partnerId, name, keyId },
    kind: asGiven<'oauth' | 'storefront' | undefined>(kind),
    redirectUris: wordsOf(given['redirectUris']),
    claims: asGiven<never[]>(wordsOf(given['claims']) as unknown as string),
  });
  return { secret: { label: `${m.secret}: ${id}`, value: clientSecret } };
};

function redirects({ redirectUris }: Client, { m }: PageContext): Section {
  return {
    title: m.redirectUris,
    table: { headings: [m.redirectUri], rows: redirectUris.map((uri) => [text(uri)]) },
    forms: [
      { act: 'addUri', fields: [{ name: 'uri', label: m.redirectUri }], submit: m.add },
      {
        act: 'removeUri',
        fields: [{ name: 'uri', label: m.redirectUri, kind: 'select', options: options(redirectUris) }],
        submit: m.remove,
        danger: true,
      },
    ],
  };
}

function branding(client: Client, partner: { name: string }, { m }: PageContext): Section {
  const name = client.brandName ?? partner.name;
  const field = (of: 'brandName' | 'brandColor' | 'purpose' | 'privacyUrl') => ({
    name: of,
    label: m[of],
    value: client[of] ?? '',
  });
  return {
    title: m.branding,
    note: m.preview,
    preview: {
      initial: Array.from(name)[0]?.toUpperCase() ?? '',
      name,
      text: m.previewText,
      claims: client.claims,
      purpose: client.purpose,
      ...(client.brandColor ? { color: client.brandColor.slice(1) } : {}),
    },
    forms: [
      {
        act: 'brand',
        fields: [field('brandName'), field('brandColor'), field('purpose'), field('privacyUrl')],
        submit: m.save,
      },
    ],
  };
}

function secrets(client: Client, { m }: PageContext): Section {
  return {
    title: m.secrets,
    table: {
      headings: [m.secret, m.created, m.lastUsed, m.expires],
      rows: client.secrets.map(({ last4, createdAt, lastUsedAt, expiresAt }) => [
        text(`…${last4 ?? ''}`),
        time(createdAt),
        time(lastUsedAt),
        expiresAt ? time(expiresAt) : text(m.never),
      ]),
    },
    forms: [{ act: 'rotate', fields: [keepOldField(m)], submit: m.rotateSecret }],
  };
}

async function show(context: PageContext): Promise<View> {
  const { api, m, partnerId, params } = context;
  const [client, partner] = await Promise.all([
    api.clients.show({ clientId: params['client'] ?? '' }),
    api.partners.show({ partnerId }),
  ]);
  const isActive = client.status === 'active';
  const turn = isActive ? ('disable' as const) : ('enable' as const);
  return {
    title: client.name,
    brandStyle: client.brandColor ?? undefined,
    sections: [
      {
        title: client.id,
        facts: [
          [m.mode, text(client.mode)],
          [m.status, text(client.status)],
          [m.key, link(client.keyId, `/webhooks/${client.keyId}`)],
          [m.claims, text(client.claims.join(' '))],
          [m.created, time(client.createdAt)],
        ],
        forms: [{ act: turn, fields: [], submit: m[turn], danger: isActive }],
      },
      redirects(client, context),
      branding(client, partner, context),
      secrets(client, context),
    ],
  };
}

const clientId = ({ params }: PageContext) => ({ clientId: params['client'] ?? '' });

/** An action of one procedure, after which the page is shown again. */
const change =
  (run: (context: PageContext, given: Readonly<Record<string, string>>) => Promise<unknown>): Action =>
  async (context, given) => {
    await run(context, given);
    return undefined;
  };
/** Empty: back to the default. */
const orDefault = (value: string | undefined) => (value?.trim() ? value : null);

export const clientPages: readonly PageRow[] = [
  {
    path: '/clients',
    nav: 'clients',
    needs: 'clients.list',
    changes: 'clients.create',
    view: list,
    actions: { create },
  },
  {
    path: '/clients/:client',
    needs: 'clients.show',
    changes: 'clients.update',
    view: show,
    actions: {
      addUri: change((context, { uri = '' }) =>
        context.api.clients.update({ ...clientId(context), addRedirectUris: [uri.trim()] }),
      ),
      removeUri: change((context, { uri = '' }) =>
        context.api.clients.update({ ...clientId(context), removeRedirectUris: [uri] }),
      ),
      brand: change((context, given) =>
        context.api.clients.update({
          ...clientId(context),
          brandName: orDefault(given['brandName']),
          brandColor: orDefault(given['brandColor']),
          purpose: orDefault(given['purpose']),
          privacyUrl: orDefault(given['privacyUrl']),
        }),
      ),
      disable: change((context) => context.api.clients.disable(clientId(context))),
      enable: change((context) => context.api.clients.enable(clientId(context))),
      rotate: async (context, given) => {
        const { clientSecret } = await context.api.clients.rotateSecret({
          ...clientId(context),
          ...keepOldOf(given),
        });
        return { secret: { label: context.m.secret, value: clientSecret } };
      },
    },
  },
];
