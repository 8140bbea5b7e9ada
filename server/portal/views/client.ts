import { type ClaimName, claimNames } from '../../../contracts/claims.ts';
import { change, keepOldField, keepOldOf, keyOptions, select } from './forms.ts';
import { integrate, integrationsOf } from './integrations.ts';
import type { Action, DocumentRow, Field, Given, PageContext, PageRow, Section, View } from './page.ts';
import { filled, link, options, text, time } from './text.ts';

type Client = Awaited<ReturnType<PageContext['api']['clients']['show']>>;
const brandFields = ['brandName', 'brandColor', 'purpose', 'privacyUrl'] as const;

/** A check box for each claim. */
export const claimFields = (chosen: readonly ClaimName[]): Field[] =>
  claimNames.map((claim) => ({
    name: `claim_${claim}`,
    label: claim,
    kind: 'check',
    value: chosen.includes(claim) ? 'yes' : '',
  }));
export const claimsIn = (given: Given): ClaimName[] =>
  claimNames.filter((claim) => given[`claim_${claim}`] === 'yes');

/** An empty field resets the setting to its default. */
const orDefault = (value: string | undefined) => (value?.trim() ? value.trim() : null);
const brandIn = (given: Given) => ({
  brandName: orDefault(given['brandName']),
  brandColor: orDefault(given['brandColor']),
  purpose: orDefault(given['purpose']),
  privacyUrl: orDefault(given['privacyUrl']),
});

const clientId = ({ params }: PageContext) => ({ clientId: params['client'] ?? '' });

function redirects({ redirectUris }: Client, { m }: PageContext): Section {
  return {
    title: m.redirectUris,
    table: { headings: [m.redirectUri], rows: redirectUris.map((uri) => [text(uri)]) },
    forms: [
      { act: 'addUri', fields: [{ name: 'uri', label: m.redirectUri }], submit: m.add },
      {
        act: 'removeUri',
        fields: [select('uri', m.redirectUri, options(redirectUris))],
        submit: m.remove,
        danger: true,
      },
    ],
  };
}

/** The form and preview of the branding. After a preview, `query` has the values that are not saved. */
function branding(client: Client, { m, query }: PageContext): Section {
  const isTyped = 'preview' in query;
  const shownIn = (name: (typeof brandFields)[number]) =>
    isTyped ? (query[name] ?? '') : (client[name] ?? '');
  const values = Object.fromEntries(brandFields.map((name) => [name, shownIn(name)]));
  const wanted = new URLSearchParams(filled(values)).toString();
  return {
    title: m.branding,
    ...(isTyped ? { note: m.notSaved } : {}),
    frame: { src: `/clients/${client.id}/preview?${wanted}`, title: m.preview },
    forms: [
      {
        act: 'brand',
        fields: brandFields.map((name) => ({
          name,
          label: m[name],
          value: shownIn(name),
          ...(name === 'brandColor' ? { placeholder: '#0a7f5c' } : {}),
        })),
        submit: m.save,
        other: { act: 'preview', submit: m.showPreview },
      },
    ],
  };
}

/** Shows a preview of the typed branding, and saves nothing. */
const preview: Action = async (context, given) => {
  const typed = Object.fromEntries(brandFields.map((name) => [name, given[name] ?? '']));
  const wanted = new URLSearchParams({ preview: '', ...filled(typed) }).toString();
  return { to: `/clients/${clientId(context).clientId}?${wanted}`, quiet: true };
};

function settings(client: Client, { m }: PageContext, keys: NonNullable<Field['options']>): Section {
  return {
    title: m.settings,
    forms: [
      {
        act: 'settings',
        fields: [
          { name: 'name', label: m.label, value: client.name },
          select('keyId', m.key, keys, client.keyId),
          ...claimFields(client.claims),
        ],
        submit: m.save,
        note: m.settingsNote,
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
  const { api, m } = context;
  const [client, keys] = await Promise.all([api.clients.show(clientId(context)), keyOptions(context)]);
  const isActive = client.status === 'active';
  const statusAction = isActive ? ('disable' as const) : ('enable' as const);
  // The form can move a client of a revoked key to another key, so it also offers the present one.
  const isKeyActive = keys.some(({ value }) => value === client.keyId);
  const offered = isKeyActive ? keys : [{ value: client.keyId, text: client.keyId }, ...keys];
  const isStorefront = client.kind === 'storefront';
  return {
    title: client.name,
    sections: [
      {
        title: client.id,
        facts: [
          [m.mode, text(client.mode)],
          [m.status, text(client.status)],
          [m.kind, text(client.kind)],
          [m.key, link(client.keyId, `/keys/${client.keyId}`)],
          [m.claims, text(client.claims.join(' '))],
          [m.created, time(client.createdAt)],
        ],
        links: [
          { text: m.sessions, to: `/sessions?client=${client.id}` },
          { text: m.requests, to: `/requests?client=${client.id}` },
        ],
        forms: [{ act: statusAction, fields: [], submit: m[statusAction], danger: isActive }],
      },
      redirects(client, context),
      settings(client, context, offered),
      branding(client, context),
      // A storefront client authenticates with the secrets of its integrations.
      isStorefront ? await integrationsOf(context, client.id) : secrets(client, context),
    ],
  };
}

/** The consent page with the branding of the query. */
async function previewOf(context: PageContext) {
  const { api, partnerId, query, language, previewConsent } = context;
  const [client, partner] = await Promise.all([
    api.clients.show(clientId(context)),
    api.partners.show({ partnerId }),
  ]);
  const { brandColor, ...typed } = brandIn(query);
  const isColor = /^#[0-9a-f]{6}$/i.test(brandColor ?? '');
  const wanted = {
    ...typed,
    name: partner.name,
    logo: partner.logo,
    brandColor: isColor && brandColor ? brandColor.toLowerCase() : null,
    claims: client.claims,
    mode: client.mode,
    redirectUri: client.redirectUris[0] ?? 'https://example.com/',
  };
  return { type: 'text/html', content: previewConsent(wanted, language) };
}

export const clientPage: readonly PageRow[] = [
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
      settings: change((context, { name = '', keyId = '', ...given }) =>
        context.api.clients.update({ ...clientId(context), name, keyId, claims: claimsIn(given) }),
      ),
      brand: change((context, given) =>
        context.api.clients.update({ ...clientId(context), ...brandIn(given) }),
      ),
      preview,
      integrate,
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

export const clientDocuments: readonly DocumentRow[] = [
  { path: '/clients/:client/preview', needs: 'clients.show', document: previewOf },
];
