import { eventNames } from '../../../../../contracts/event-names.ts';
import { asking } from '../kit/ask.ts';
import {
  checkedByProcedure,
  hidden,
  isOn,
  numberIn,
  select,
  timeAfter,
  withoutResult,
} from '../kit/forms.ts';
import type { Action, Given, PageContext, PageRow, Question, Section, View } from '../kit/page.ts';
import { options, percent, tableOf, text, time, toned } from '../kit/text.ts';

const keyReference = ({ params }: PageContext) => ({ keyId: params['key'] ?? '' });
/** The lengths of a pause that the form offers: up to 7 days. */
const pauseHours = ['1', '4', '24', '168'];
type Endpoint = Awaited<ReturnType<PageContext['api']['webhooks']['show']>>;
type Health = Awaited<ReturnType<PageContext['api']['webhooks']['health']>>[number];

/** Whether an endpoint in this state receives no events, or not all of them. */
export const needsAttention = (state: string): boolean => state === 'dead' || state === 'failing';

function toneOf(state: Health['state']): 'bad' | 'good' | undefined {
  if (needsAttention(state)) return 'bad';
  return state === 'slow' ? undefined : 'good';
}

async function healthOf(context: PageContext): Promise<Section> {
  const { api, m } = context;
  // The list has at most the one endpoint of this key.
  const [health] = await api.webhooks.health(keyReference(context));
  if (!health) return { title: m.health, note: m.none };
  const { state, successShare, attempts, lastSuccessAt, failingSince, answers } = health;
  return {
    title: m.health,
    note: state === 'slow' ? m.slowNote : undefined,
    facts: [
      [m.status, toned(state, toneOf(state))],
      [m.successShare, percent(successShare)],
      [m.attempts, text(attempts)],
      [m.lastSuccess, time(lastSuccessAt)],
      [m.failingSince, time(failingSince)],
    ],
    table: tableOf(answers, [
      [m.answers, ({ answer }) => text(answer)],
      [m.total, ({ count }) => text(count)],
      [m.from, ({ firstAt }) => time(firstAt)],
      [m.until, ({ lastAt }) => time(lastAt)],
    ]),
  };
}

/** The URL of an endpoint. The first URL gets a signing secret, and a change of the URL keeps it. */
function addressOf(endpoint: Endpoint, { m }: PageContext): Section {
  const hasUrl = endpoint.url !== null;
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
      hasUrl
        ? { act: 'change', fields: [url], submit: m.changeUrl }
        : { act: 'set', fields: [url], submit: m.setUrl },
      hasUrl && { act: 'test', fields: [], submit: m.sendTest },
      hasUrl && { act: 'unset', fields: [], submit: m.unsetUrl, danger: true },
    ],
  };
}

/** The forms that replace the signing secret: in two steps, or immediately. */
function secretOf(endpoint: Endpoint, { m }: PageContext): Section {
  const { prepared } = endpoint;
  return {
    title: m.secret,
    facts: [
      [m.prepared, text(prepared ? `…${prepared.last4}` : m.none)],
      ...(prepared ? [[m.created, time(prepared.preparedAt)] as const] : []),
    ],
    note: m.rotationNote,
    forms: [
      { act: 'prepare', fields: [], submit: m.prepare },
      // The form names the secret that the member sees. Another member may have prepared a new one meanwhile.
      prepared !== null && {
        act: 'switch',
        fields: [hidden('last4', prepared.last4)],
        submit: m.switchSecret,
      },
      { act: 'rotate', fields: [], submit: m.rotateNow, danger: true },
    ],
  };
}

/** The sections for pauses, notices, samples, and the check of a signature. */
function toolsOf({ mode, notices, pausedUntil }: Endpoint, { m, now }: PageContext): Section[] {
  const isPaused = pausedUntil !== null && new Date(pausedUntil).getTime() > now;
  return [
    {
      title: m.sending,
      facts: [
        [m.heldUntil, isPaused ? { ...time(pausedUntil), tone: 'bad' } : text(null)],
        [m.notices, text(notices ? m.on : m.off)],
      ],
      forms: [
        {
          act: 'pause',
          fields: [{ ...select('hours', m.holdHours, options(pauseHours)), sets: ['until'] }],
          submit: m.hold,
        },
        isPaused && { act: 'resume', fields: [], submit: m.resume },
        {
          act: 'notices',
          fields: [hidden('notices', notices ? 'off' : 'on')],
          submit: notices ? m.stopNotices : m.sendNotices,
        },
        // Samples of events exist in test mode only.
        mode === 'test' && {
          act: 'trigger',
          fields: [select('event', m.event, options(eventNames))],
          submit: m.sendSample,
        },
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
  const { keyId } = keyReference(context);
  const endpoint = await context.api.webhooks.show({ keyId });
  // Without a URL there is no signing secret, and nothing is sent.
  const sectionsOfUrl = endpoint.url
    ? [secretOf(endpoint, context), await healthOf(context), ...toolsOf(endpoint, context)]
    : [];
  return {
    title: `${m.webhooks}: ${endpoint.mode}`,
    sections: [
      addressOf(endpoint, context),
      ...sectionsOfUrl,
      {
        title: m.deliveries,
        links: [
          { text: m.deliveries, to: `/deliveries?key=${keyId}` },
          { text: `${m.deliveries}: waiting`, to: `/deliveries?key=${keyId}&status=waiting` },
          { text: `${m.deliveries}: failed`, to: `/deliveries?key=${keyId}&status=failed` },
        ],
      },
    ],
  };
}

/** Asks before something of a live endpoint ends. @param changes whether the form changes anything */
const askAbout =
  (
    text: 'endsUrl' | 'endsSigning' | 'movesEvents' | 'holdsEvents' | 'endsNotices',
    changes: (endpoint: Endpoint, given: Given) => boolean = () => true,
  ) =>
  async (context: PageContext, given: Given): Promise<Question | undefined> => {
    const { m } = context;
    const endpoint = await context.api.webhooks.show(keyReference(context));
    const { keyId, url, mode, last4, lastUsedAt } = endpoint;
    if (mode !== 'live' || url === null || !changes(endpoint, given)) return undefined;
    return {
      text: m[text],
      facts: [
        [m.key, { text: keyId }],
        [m.url, { text: url }],
        [m.secret, { text: `…${last4 ?? ''}` }],
        [m.lastUsed, time(lastUsedAt)],
      ],
      ...(text === 'endsSigning' && !endpoint.prepared
        ? { gentle: { act: 'prepare', submit: m.prepareInstead } }
        : {}),
      ...(text === 'endsUrl' ? { gentle: { act: 'pause', given: { hours: '24' }, submit: m.hold } } : {}),
    };
  };

/** Saves the URL of an endpoint. Only the first one gets a new signing secret. */
const set: Action = async (context, given) => {
  const reference = keyReference(context);
  const url = (given['url'] ?? '').trim();
  const { url: present } = await context.api.webhooks.show(reference);
  if (present !== null) {
    await context.api.webhooks.changeUrl({ ...reference, url });
    return undefined;
  }
  const { signingSecret } = await context.api.webhooks.set({ ...reference, url });
  return { secret: { label: context.m.secret, value: signingSecret } };
};

const saveUrl = asking(
  'webhooks.changeUrl',
  askAbout('movesEvents', (endpoint, { url = '' }) => endpoint.url !== url.trim()),
  set,
);

const withNewSecret =
  (make: (context: PageContext) => Promise<{ signingSecret: string }>): Action =>
  async (context) => {
    const { signingSecret } = await make(context);
    return { secret: { label: context.m.secret, value: signingSecret } };
  };

/**
 * Checks a signature of a pasted body. The signature covers the exact bytes that were sent, so two changes are undone: a browser
 * sends a line break as CR LF, and a pasted text often has space around it.
 */
const verify: Action = async (context, { body = '', signature = '' }) => {
  const { m, api } = context;
  const { verified, reasons } = await api.webhooks.verify({
    ...keyReference(context),
    body: body.replaceAll('\r\n', '\n').trim(),
    signature: signature.trim(),
  });
  return { text: { label: m.checkSignature, value: verified ? m.signatureRight : reasons.join('\n') } };
};

export const endpointPages: readonly PageRow[] = [
  {
    path: '/webhooks/:key',
    needs: 'webhooks.show',
    changes: 'webhooks.set',
    view: show,
    actions: {
      // A form of before the first URL may be sent after it, so both keep the secret of an endpoint.
      set: saveUrl,
      change: saveUrl,
      prepare: withNewSecret((context) => context.api.webhooks.prepareSecret(keyReference(context))),
      rotate: asking(
        'webhooks.rotateSecret',
        askAbout('endsSigning'),
        withNewSecret((context) => context.api.webhooks.rotateSecret(keyReference(context))),
      ),
      switch: asking(
        'webhooks.switchSecret',
        askAbout('endsSigning'),
        withoutResult((context, { last4 = '' }) =>
          context.api.webhooks.switchSecret({ ...keyReference(context), last4 }),
        ),
      ),
      unset: asking(
        'webhooks.unset',
        askAbout('endsUrl'),
        withoutResult((context) => context.api.webhooks.unset(keyReference(context))),
      ),
      pause: asking(
        'webhooks.pause',
        askAbout('holdsEvents'),
        withoutResult((context, { hours }) =>
          context.api.webhooks.pause({
            ...keyReference(context),
            until: timeAfter(context.now, numberIn(hours)),
          }),
        ),
      ),
      resume: withoutResult((context) => context.api.webhooks.resume(keyReference(context))),
      notices: asking(
        'webhooks.setNotices',
        askAbout('endsNotices', (_, given) => !isOn(given, 'notices')),
        withoutResult((context, given) =>
          context.api.webhooks.setNotices({ ...keyReference(context), notices: isOn(given, 'notices') }),
        ),
      ),
      trigger: async (context, { event }) => {
        const { id } = await context.api.webhooks.trigger({
          ...keyReference(context),
          event: checkedByProcedure(event),
        });
        return { to: `/deliveries/${id}` };
      },
      verify,
      test: async (context) => {
        // The page of the delivery says what the receiver answered. It may have refused the event.
        const { id } = await context.api.webhooks.test(keyReference(context));
        return { to: `/deliveries/${id}` };
      },
    },
  },
];
