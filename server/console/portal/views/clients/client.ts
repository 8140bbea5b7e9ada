import { type BrandRequest, logoFor } from '../../../../../contracts/admin/brands.ts';
import type { UpdateClient } from '../../../../../contracts/admin/clients.ts';
import type { ClaimName } from '../../../../../contracts/claims.ts';
import { type IdTokenAlg, idTokenAlgs } from '../../../../../contracts/openid.ts';
import type { Messages } from '../../messages/en.ts';
import { asking } from '../kit/ask.ts';
import {
  checkedByProcedure,
  claimFields,
  claimsIn,
  isOn,
  keyOptions,
  select,
  withoutResult,
} from '../kit/forms.ts';
import type { Action, DocumentRow, Field, Given, PageContext, PageRow, Section, View } from '../kit/page.ts';
import { rotation, rotationForm } from '../kit/rotation.ts';
import { link, options, queryOf, tableOf, text, time, toned, wordsOf } from '../kit/text.ts';
import { askToChange, askToEnd, askToEndOpenid, clientReference, liveClient } from './client-questions.ts';
import { integrate, integrationsOf } from './integrations.ts';

type Client = Awaited<ReturnType<PageContext['api']['clients']['show']>>;
const brandFields = ['brandName', 'brandColor', 'purpose', 'privacyUrl'] as const;

/** The branding in a form or a query. An empty field is null, which resets the setting to its default. */
const brandingIn = ({ brandName = '', brandColor = '', purpose = '', privacyUrl = '' }: Given) => ({
  brandName: brandName.trim() || null,
  brandColor: brandColor.trim() || null,
  purpose: purpose.trim() || null,
  privacyUrl: privacyUrl.trim() || null,
});

function redirectUrisOf({ redirectUris }: Client, { m }: PageContext): Section {
  return {
    title: m.redirectUris,
    table: tableOf(redirectUris, [[m.redirectUri, text]]),
    forms: [
      {
        act: 'addUri',
        fields: [{ name: 'uri', sets: ['addRedirectUris'], label: m.redirectUri }],
        submit: m.add,
      },
      {
        act: 'removeUri',
        fields: [{ ...select('uri', m.redirectUri, options(redirectUris)), sets: ['removeRedirectUris'] }],
        submit: m.remove,
        danger: true,
      },
    ],
  };
}

/** A change of the live brand that waits for the operator, or was refused. */
export const requestFacts = (
  { status, changes, requestedAt, reason }: BrandRequest,
  m: Messages,
): NonNullable<Section['facts']> => [
  [
    m.status,
    toned(status === 'waiting' ? m.brandWaits : m.brandRefused, status === 'waiting' ? undefined : 'bad'),
  ],
  ...brandFields.flatMap((name) =>
    name in changes ? [[m[name], text(changes[name as keyof typeof changes])] as const] : [],
  ),
  [m.since, time(requestedAt)],
  ...(reason === null ? [] : [[m.reason, text(reason)] as const]),
];

/** The form and the preview of the branding. While a member tries values that are not saved, the query has them. */
function brandingOf(client: Client, { m, query }: PageContext): Section {
  const isTrial = 'preview' in query;
  const { brandRequest } = client;
  const waiting = brandRequest?.status === 'waiting' ? brandRequest.changes : {};
  // The form shows what the member asked for, so that saving it again does not withdraw it.
  const { brandName, brandColor, purpose, privacyUrl } = isTrial ? query : { ...client, ...waiting };
  const values = { brandName, brandColor, purpose, privacyUrl };
  return {
    title: m.branding,
    note: isTrial ? m.notSaved : client.mode === 'live' ? m.brandNote : undefined,
    facts: brandRequest ? requestFacts(brandRequest, m) : [],
    frame: { src: `/clients/${client.id}/preview?${queryOf(values)}`, title: m.preview },
    links: [{ text: m.logo, to: '/logo' }],
    forms: [
      {
        act: 'brand',
        fields: brandFields.map((name) => ({
          name,
          label: m[name],
          value: values[name] ?? '',
          placeholder: name === 'brandColor' ? '#0a7f5c' : undefined,
        })),
        submit: m.save,
        secondButton: { act: 'preview', submit: m.showPreview },
      },
    ],
  };
}

/** Shows the page again and saves nothing. The typed branding is in its query, where `brandingOf` finds it. */
const preview: Action = async (context, given) => {
  const trialQuery = queryOf({ preview: 'yes', ...brandingIn(given) });
  return { to: `/clients/${clientReference(context).clientId}?${trialQuery}`, isUnchanged: true };
};

/** The form of the other settings. @param keys the keys to which the client can be moved */
function settingsOf(client: Client, { m }: PageContext, keys: NonNullable<Field['options']>): Section {
  return {
    title: m.settings,
    forms: [
      {
        act: 'settings',
        fields: [
          { name: 'name', label: m.label, value: client.name },
          select('keyId', m.key, keys, client.keyId),
          ...claimFields(m, client.claims),
        ],
        submit: m.save,
        note: m.settingsNote,
      },
    ],
  };
}

const openidOf = ({ openid, defaultClaims, idTokenAlg }: Client, { m }: PageContext): Section => ({
  title: 'OpenID Connect',
  note: m.openidNote,
  forms: [
    {
      act: 'openid',
      fields: [
        select('openid', 'OpenID Connect', options(['off', 'on']), openid ? 'on' : 'off'),
        { name: 'defaultClaims', label: m.defaultClaims, value: defaultClaims.join(' ') },
        select('idTokenAlg', m.idTokenAlg, options([...idTokenAlgs]), idTokenAlg),
      ],
      submit: m.save,
    },
  ],
});

/** The settings in that form. No default claim is null. */
function openidIn(given: Given) {
  const { defaultClaims, idTokenAlg } = given;
  const names = wordsOf(defaultClaims);
  return {
    openid: isOn(given, 'openid'),
    // The procedure checks the names.
    defaultClaims: names.length > 0 ? (names as ClaimName[]) : null,
    idTokenAlg: checkedByProcedure<IdTokenAlg>(idTokenAlg),
  };
}

function secretsOf(client: Client, { m }: PageContext): Section {
  return {
    title: m.secrets,
    table: tableOf(client.secrets, [
      [m.secret, ({ last4 }) => text(`…${last4 ?? ''}`)],
      [m.created, ({ createdAt }) => time(createdAt)],
      [m.lastUsed, ({ lastUsedAt }) => time(lastUsedAt)],
      [m.expires, ({ expiresAt }) => (expiresAt ? time(expiresAt) : text(m.never))],
    ]),
    forms: [rotationForm(m, m.rotateSecret)],
  };
}

async function show(context: PageContext): Promise<View> {
  const { api, m } = context;
  const [client, keys] = await Promise.all([api.clients.show(clientReference(context)), keyOptions(context)]);
  const isActive = client.status === 'active';
  // The name of the action and of its message.
  const changeOfStatus = isActive ? 'disable' : 'enable';
  // The active keys do not include a revoked key of the client. The form needs it as the option that changes nothing.
  const isKeyActive = keys.some(({ value }) => value === client.keyId);
  const keyChoices = isKeyActive ? keys : [{ value: client.keyId, text: client.keyId }, ...keys];
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
        forms: [{ act: changeOfStatus, fields: [], submit: m[changeOfStatus], danger: isActive }],
      },
      redirectUrisOf(client, context),
      settingsOf(client, context, keyChoices),
      brandingOf(client, context),
      // A storefront client authenticates with the secrets of its integrations.
      ...(isStorefront
        ? [await integrationsOf(context, client.id)]
        : [openidOf(client, context), secretsOf(client, context)]),
    ],
  };
}

/** The consent page with the branding of the query, which may have been typed and never checked. */
async function previewOf(context: PageContext) {
  const { api, partnerId, query, language, previewConsent } = context;
  const [client, partner] = await Promise.all([
    api.clients.show(clientReference(context)),
    api.partners.show({ partnerId }),
  ]);
  const branding = brandingIn(query);
  // The page escapes texts. The colour becomes a part of a style sheet's address, so any other text is ignored.
  const [brandColor = null] = branding.brandColor?.toLowerCase().match(/^#[0-9a-f]{6}$/) ?? [];
  const content = previewConsent(
    {
      ...branding,
      brandColor,
      name: partner.name,
      // The preview shows a logo that waits for the operator.
      logo: logoFor('test', partner) ?? null,
      claims: client.claims,
      mode: client.mode,
      // The page shows the host to which it leads. A client may have no redirect URI any more.
      redirectUri: client.redirectUris[0] ?? 'https://example.com/',
    },
    language,
  );
  return { type: 'text/html', content };
}

/** Makes an action that changes the client. @param changesIn returns the changed settings of a form */
const update = (changesIn: (given: Given) => Omit<UpdateClient, 'clientId'>): Action =>
  withoutResult((context, given) =>
    context.api.clients.update({ ...clientReference(context), ...changesIn(given) }),
  );

export const clientPage: readonly PageRow[] = [
  {
    path: '/clients/:client',
    needs: 'clients.show',
    changes: 'clients.update',
    view: show,
    actions: {
      addUri: update(({ uri = '' }) => ({ addRedirectUris: [uri.trim()] })),
      removeUri: asking(
        'clients.update',
        askToEnd('endsUri'),
        update(({ uri = '' }) => ({ removeRedirectUris: [uri] })),
      ),
      settings: asking(
        'clients.update',
        askToChange,
        update(({ name = '', keyId = '', ...given }) => ({ name, keyId, claims: claimsIn(given) })),
      ),
      brand: update(brandingIn),
      openid: asking('clients.update', askToEndOpenid, update(openidIn)),
      preview,
      integrate,
      disable: asking(
        'clients.disable',
        askToEnd('endsClient'),
        withoutResult((context) => context.api.clients.disable(clientReference(context))),
      ),
      enable: withoutResult((context) => context.api.clients.enable(clientReference(context))),
      rotate: rotation('clients.rotateSecret', liveClient, async (context, keepOld) => {
        const reference = clientReference(context);
        const rotated = await context.api.clients.rotateSecret({ ...reference, ...keepOld });
        const { clientSecret: value, secrets } = rotated;
        return { label: context.m.secret, value, oldUntil: secrets[1]?.expiresAt };
      }),
    },
  },
];

export const clientDocuments: readonly DocumentRow[] = [
  { path: '/clients/:client/preview', needs: 'clients.show', document: previewOf },
];
