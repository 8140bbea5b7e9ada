import { eventNames } from '../../../contracts/event-names.ts';
import { asGiven, change, hidden, select } from './forms.ts';
import type { Action, PageContext, PageRow, Section, View } from './page.ts';
import { filled, link, nextPage, options, pageSize, text, time, toned } from './text.ts';

const keyOf = ({ params }: PageContext) => ({ keyId: params['key'] ?? '' });
type Endpoint = Awaited<ReturnType<PageContext['api']['webhooks']['show']>>;

async function list({ api, m, partnerId, query }: PageContext): Promise<View> {
  const { after = '' } = query;
  const [keys, health] = await Promise.all([
    api.keys.list({ partnerId, status: 'active', limit: pageSize, ...filled({ after }) }),
    api.webhooks.health({ partnerId, limit: pageSize }),
  ]);
  const stateOf = (keyId: string) => health.find((one) => one.keyId === keyId)?.state;
  return {
    title: m.webhooks,
    sections: [
      {
        title: m.webhooks,
        table: {
          headings: [m.key, m.mode, m.url, m.status],
          rows: keys.map(({ id, mode, webhookUrl }) => [
            link(id, `/webhooks/${id}`),
            text(mode),
            text(webhookUrl),
            text(stateOf(id)),
          ]),
        },
        next: nextPage('/webhooks', keys),
      },
    ],
  };
}

async function healthOf(context: PageContext): Promise<Section> {
  const { api, m } = context;
  const [health] = await api.webhooks.health(keyOf(context));
  if (!health) return { title: m.health, note: m.none };
  const { state, successShare, attempts, lastSuccessAt, failingSince, answers } = health;
  const isBad = state === 'dead' || state === 'failing';
  return {
    title: m.health,
    facts: [
      [m.status, toned(state, isBad ? 'bad' : 'good')],
      [m.successShare, text(successShare === null ? null : `${Math.round(successShare * 100)} %`)],
      [m.attempts, text(attempts)],
      [m.lastSuccess, time(lastSuccessAt)],
      [m.failingSince, time(failingSince)],
    ],
    table: {
      headings: [m.answers, m.total, m.from, m.until],
      rows: answers.map(({ answer, count, firstAt, lastAt }) => [
        text(answer),
        text(count),
        time(firstAt),
        time(lastAt),
      ]),
    },
  };
}

/** The URL of an endpoint and its signing secret. */
function addressOf(endpoint: Endpoint, { m }: PageContext): Section {
  const url = { name: 'url', label: m.url, value: endpoint.url ?? '' };
  return {
    title: endpoint.url ?? m.url,
    facts: [
      [m.mode, text(endpoint.mode)],
      [m.secret, text(endpoint.last4 && `…${endpoint.last4}`)],
      [m.rotated, time(endpoint.rotatedAt)],
      [m.lastUsed, time(endpoint.lastUsedAt)],
    ],
    forms: [
      { act: 'set', fields: [url], submit: m.setUrl },
      ...(endpoint.url
        ? [
            { act: 'change', fields: [url], submit: m.changeUrl },
            { act: 'test', fields: [], submit: m.sendTest },
            { act: 'unset', fields: [], submit: m.unsetUrl, danger: true },
          ]
        : []),
    ],
  };
}

function secretOf(endpoint: Endpoint, { m }: PageContext): Section {
  const { prepared } = endpoint;
  return {
    title: m.secret,
    facts: [[m.prepared, prepared ? text(`…${prepared.last4} · ${prepared.preparedAt}`) : text(m.none)]],
    note: m.rotationNote,
    forms: [
      { act: 'prepare', fields: [], submit: m.prepare },
      ...(prepared
        ? [{ act: 'switch', fields: [hidden('last4', prepared.last4)], submit: m.switchSecret }]
        : []),
      { act: 'rotate', fields: [], submit: m.rotateNow, danger: true },
    ],
  };
}

/** The sections for pauses, notices, samples, and the check of a signature. */
function toolsOf({ mode, notices, pausedUntil }: Endpoint, { m, now }: PageContext): Section[] {
  const isHeld = pausedUntil !== null && new Date(pausedUntil).getTime() > now;
  const hours = ['1', '4', '24', '168'];
  return [
    {
      title: m.sending,
      facts: [
        [m.heldUntil, isHeld ? toned(pausedUntil, 'bad') : text(null)],
        [m.notices, text(notices ? m.on : m.off)],
      ],
      forms: [
        {
          act: 'pause',
          fields: [select('hours', m.holdHours, options(hours))],
          submit: m.hold,
        },
        ...(isHeld ? [{ act: 'resume', fields: [], submit: m.resume }] : []),
        {
          act: 'notices',
          fields: [hidden('notices', notices ? 'off' : 'on')],
          submit: notices ? m.stopNotices : m.sendNotices,
        },
        ...(mode === 'test'
          ? [
              {
                act: 'trigger',
                fields: [select('event', m.event, options(eventNames))],
                submit: m.sendSample,
              },
            ]
          : []),
      ],
    },
    {
      title: m.checkSignature,
      note: m.checkSignatureNote,
      forms: [
        {
          act: 'verify',
          fields: [
            { name: 'body', label: m.sentBody, kind: 'lines' },
            { name: 'signature', label: 'X-SVC-Signature', placeholder: 'sha256=…' },
          ],
          submit: m.check,
        },
      ],
    },
  ];
}

async function show(context: PageContext): Promise<View> {
  const { m } = context;
  const { keyId } = keyOf(context);
  const endpoint = await context.api.webhooks.show({ keyId });
  const sections = [addressOf(endpoint, context)];
  if (endpoint.url)
    sections.push(secretOf(endpoint, context), await healthOf(context), ...toolsOf(endpoint, context));
  return {
    title: `${m.webhooks}: ${endpoint.mode}`,
    sections: [
      ...sections,
      {
        title: m.deliveries,
        links: [
          { text: m.deliveries, to: `/deliveries?key=${keyId}` },
          { text: `${m.deliveries}: failed`, to: `/deliveries?key=${keyId}&status=failed` },
        ],
      },
    ],
  };
}

const secret =
  (make: (context: PageContext, url: string) => Promise<{ signingSecret: string }>): Action =>
  async (context, { url = '' }) => {
    const { signingSecret } = await make(context, url.trim());
    return { secret: { label: context.m.secret, value: signingSecret } };
  };

/** Checks a signature. Browsers send line breaks of a form as CR LF, so they are converted first. */
const verify: Action = async (context, { body = '', signature = '' }) => {
  const { m, api } = context;
  const wanted = {
    ...keyOf(context),
    body: body.replaceAll('\r\n', '\n').trim(),
    signature: signature.trim(),
  };
  const { verified, reasons } = await api.webhooks.verify(wanted);
  return {
    result: { label: m.checkSignature, value: verified ? m.signatureRight : reasons.join('\n') },
  };
};

export const webhookPages: readonly PageRow[] = [
  { path: '/webhooks', nav: 'webhooks', needs: 'webhooks.show', view: list },
  {
    path: '/webhooks/:key',
    needs: 'webhooks.show',
    changes: 'webhooks.set',
    view: show,
    actions: {
      set: secret((context, url) => context.api.webhooks.set({ ...keyOf(context), url })),
      prepare: secret((context) => context.api.webhooks.prepareSecret(keyOf(context))),
      rotate: secret((context) => context.api.webhooks.rotateSecret(keyOf(context))),
      change: change((context, { url = '' }) =>
        context.api.webhooks.changeUrl({ ...keyOf(context), url: url.trim() }),
      ),
      switch: change((context, { last4 = '' }) =>
        context.api.webhooks.switchSecret({ ...keyOf(context), last4 }),
      ),
      unset: change((context) => context.api.webhooks.unset(keyOf(context))),
      pause: change((context, { hours = '' }) => {
        const until = new Date(context.now + Number(hours) * 3_600_000);
        return context.api.webhooks.pause({ ...keyOf(context), until: until.toISOString() });
      }),
      resume: change((context) => context.api.webhooks.resume(keyOf(context))),
      notices: change((context, { notices }) =>
        context.api.webhooks.setNotices({ ...keyOf(context), notices: notices === 'on' }),
      ),
      trigger: async (context, { event }) => {
        const wanted = { ...keyOf(context), event: asGiven<(typeof eventNames)[number]>(event) };
        const { id } = await context.api.webhooks.trigger(wanted);
        return { to: `/deliveries/${id}` };
      },
      verify,
      test: async (context) => {
        await context.api.webhooks.test(keyOf(context));
        return { to: `/deliveries?key=${keyOf(context).keyId}` };
      },
    },
  },
];
