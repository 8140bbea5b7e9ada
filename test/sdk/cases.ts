import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import {
  ApiError,
  AuthorizationError,
  createClient,
  SvcError,
  verifyWebhook,
} from '../../sdk/typescript/src/index.ts';

/** Cases that must have the same result in all client libraries. The tests of each language read these tables. */
const baseUrl = 'https://svc.example';
const state = 'state-of-this-browser';
/** The result of a success, or the code of an error and the other fields of its class. */
export type Answer = readonly (string | number | boolean | null)[];

interface CallbackCase {
  query: string;
  state: string | null;
}
interface DeliveryCase {
  /** The bytes of the body, in Base64. */
  body: string;
  /** Pairs of name and value. A repeated header has two pairs. */
  headers: (readonly [name: string, value: string])[];
  secret: string;
  /** The receiver's clock in Unix seconds. */
  now: number;
  tolerance: number | null;
}
interface ErrorCase {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const ours = `state=${state}&iss=${encodeURIComponent(baseUrl)}`;
const failed = (description: string) =>
  `${ours}&session_id=ses_1&error=verification_failed&error_description=${encodeURIComponent(description)}`;

export const callbackCases: [about: string, given: CallbackCase, answer: Answer][] = [
  ['a valid code', { query: `${ours}&code=c&session_id=ses_1`, state }, ['c', 'ses_1']],
  ['a path and a fragment', { query: `/callback?${ours}&code=c#x?code=d`, state }, ['c', null]],
  ['a code with percent escapes', { query: `${ours}&c%6Fde=a+b%2Bc`, state }, ['a b+c', null]],
  [
    'a code and repeated parameters of other names',
    { query: `${ours}&x=1&x=2&state[]=y&code=c`, state },
    ['c', null],
  ],
  ['an empty error', { query: `${ours}&error=&code=c`, state }, ['c', null]],
  ['a code, while no state is stored', { query: `${ours}&code=c`, state: null }, ['missing_state']],
  [
    'an empty state, while the stored state is empty',
    { query: `state=&code=c`, state: '' },
    ['missing_state'],
  ],
  ['no parameters', { query: '', state }, ['state_mismatch']],
  ['no state', { query: 'code=c', state }, ['state_mismatch']],
  ['a truncated state', { query: `${ours}&code=c`, state: `${state}x` }, ['state_mismatch']],
  ['an extended state', { query: `${ours}&code=c`, state: state.slice(1) }, ['state_mismatch']],
  [
    'a state in another letter case',
    { query: `${ours}&code=c`, state: state.toUpperCase() },
    ['state_mismatch'],
  ],
  ['a state that is not UTF-8', { query: 'state=%FF%FE&code=c', state }, ['state_mismatch']],
  ['a repeated state', { query: `${ours}&state=${state}&code=c`, state }, ['repeated_parameter']],
  ['a repeated, empty state', { query: `state=&${ours}&code=c`, state }, ['repeated_parameter']],
  ['no iss parameter', { query: `state=${state}&code=c`, state }, ['issuer_mismatch']],
  [
    'the iss of another server',
    { query: `state=${state}&iss=https://evil.example&code=c`, state },
    ['issuer_mismatch'],
  ],
  [
    'an iss with an extra slash',
    { query: `state=${state}&iss=${baseUrl}/&code=c`, state },
    ['issuer_mismatch'],
  ],
  ['two iss parameters', { query: `${ours}&iss=https://evil.example&code=c`, state }, ['repeated_parameter']],
  ['two code parameters', { query: `${ours}&code=c&code=d`, state }, ['repeated_parameter']],
  [
    'two session_id parameters',
    { query: `${ours}&code=c&session_id=a&session_id=b`, state },
    ['repeated_parameter'],
  ],
  ['two error parameters', { query: `${ours}&error=a&error=b`, state }, ['repeated_parameter']],
  ['an empty code', { query: `${ours}&code=`, state }, ['missing_code']],
  ['neither code nor error', { query: ours, state }, ['missing_code']],
  [
    'the failure reason document_rejected',
    { query: failed('document_rejected: no'), state },
    ['verification_failed', 'document_rejected', true, 'ses_1'],
  ],
  [
    'an unknown failure reason',
    { query: failed('new: x'), state },
    ['verification_failed', 'new', false, 'ses_1'],
  ],
  // Property names of the object prototype are no reasons.
  [
    'the failure reason constructor, a property of every object',
    { query: failed('constructor: x'), state },
    ['verification_failed', 'constructor', false, 'ses_1'],
  ],
  [
    'an error_description without a reason',
    { query: failed('Text: x'), state },
    ['verification_failed', null, false, 'ses_1'],
  ],
  [
    'an error and a code',
    { query: `${ours}&error=access_denied&code=c`, state },
    ['access_denied', null, false, null],
  ],
  ['an error that is not UTF-8', { query: `${ours}&error=%FF`, state }, ['\uFFFD', null, false, null]],
  [
    'an error that is not UTF-8, with a character that is not escaped',
    { query: `${ours}&error=%FFé`, state },
    ['\uFFFDé', null, false, null],
  ],
  [
    'an error and the state of another session',
    { query: 'state=x&error=access_denied', state },
    ['state_mismatch'],
  ],
];

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const at = 1_783_864_991;
const event = '{"event":"enrollment.created","event_id":"evt_1","partner_id":"ptr_ü"}';
const hmac = (key: string | Buffer, message: Buffer) => createHmac('sha256', key).update(message);

/** Returns the headers of a delivery (interface 5.5 and Standard Webhooks). */
function signed(body: Buffer, by = secret, time = String(at)): Record<string, string> {
  const key = Buffer.from(by.replace('whsec_', ''), 'base64');
  return {
    'x-svc-signature': `sha256=${hmac(by, body).digest('hex')}`,
    'webhook-id': 'evt_1',
    'webhook-timestamp': time,
    'webhook-signature': `v1,${hmac(key, Buffer.concat([Buffer.from(`evt_1.${time}.`), body])).digest('base64')}`,
  };
}

interface Changes {
  body?: string | Buffer;
  headers?: Record<string, string>;
  more?: [string, string][];
  secret?: string;
  off?: number;
  tolerance?: number | null;
}
const good = signed(Buffer.from(event));
const signature = good['x-svc-signature'] ?? '';
const standard = good['webhook-signature'] ?? '';

function delivery({ headers = {}, more = [], off = 0, tolerance = 300, ...changes }: Changes): DeliveryCase {
  const body = Buffer.from(changes.body ?? event).toString('base64');
  const pairs = [...Object.entries({ ...good, ...headers }), ...more].filter(([, value]) => value !== 'none');
  return { body, headers: pairs, secret: changes.secret ?? secret, now: at + off, tolerance };
}
const contract = (value: string) => delivery({ headers: { 'x-svc-signature': value } });
const standardOf = (value: string) => delivery({ headers: { 'webhook-signature': value } });
const signedBody = (body: string | Buffer) => delivery({ body, headers: signed(Buffer.from(body)) });

export const deliveryCases: [about: string, given: DeliveryCase, answer: Answer][] = [
  ['a signed event', delivery({}), ['evt_1']],
  [
    'header names in capitals',
    { ...delivery({}), headers: Object.entries(good).map(([n, v]) => [n.toUpperCase(), v]) },
    ['evt_1'],
  ],
  ['an empty secret', delivery({ secret: '' }), ['secret_required']],
  [
    'a secret other than that of the signature',
    delivery({ secret: secret.replace('CQ', 'CR') }),
    ['invalid_signature'],
  ],
  ['a secret without its prefix', delivery({ secret: secret.slice(6) }), ['invalid_signature']],
  ['a delivery without X-SVC-Signature', contract('none'), ['missing_signature']],
  ['an empty X-SVC-Signature', contract(''), ['invalid_signature']],
  ['a truncated signature', contract(signature.slice(0, -1)), ['invalid_signature']],
  ['an extended signature', contract(`${signature}0`), ['invalid_signature']],
  ['a signature in capitals', contract(`sha256=${signature.slice(7).toUpperCase()}`), ['invalid_signature']],
  ['a signature without sha256= in front', contract(signature.slice(7)), ['invalid_signature']],
  [
    'a signature that begins with v1= in place of sha256=',
    contract(signature.replace('sha256', 'v1')),
    ['invalid_signature'],
  ],
  ['a signature that is not ASCII', contract('sha256=é'), ['invalid_signature']],
  ['a list of signatures', contract(`v1=x,${signature}`), ['invalid_signature']],
  [
    'a repeated X-SVC-Signature header',
    delivery({ more: [['x-svc-signature', signature]] }),
    ['invalid_signature'],
  ],
  [
    'a second X-SVC-Signature header in other letter case',
    delivery({ more: [['X-SVC-Signature', 'x']] }),
    ['invalid_signature'],
  ],
  [
    'a repeated webhook-timestamp header',
    delivery({ more: [['webhook-timestamp', String(at)]] }),
    ['missing_timestamp'],
  ],
  ['a repeated webhook-id header', delivery({ more: [['Webhook-Id', 'evt_1']] }), ['missing_timestamp']],
  [
    'a body that was changed after signing',
    delivery({ body: event.replace('ü', 'u') }),
    ['invalid_signature'],
  ],
  ['an empty body in place of the signed one', delivery({ body: '' }), ['invalid_signature']],
  ['a body with an extra line break', delivery({ body: `${event}\n` }), ['invalid_signature']],
  ['a receiver whose clock is 300 s slow', delivery({ off: -300 }), ['evt_1']],
  ['a receiver whose clock is 300 s fast', delivery({ off: 300 }), ['evt_1']],
  ['a signed time 301 s in the future', delivery({ off: -301 }), ['timestamp_out_of_tolerance']],
  ['a signed time 301 s in the past', delivery({ off: 301 }), ['timestamp_out_of_tolerance']],
  [
    'a signed time 1 s in the past, with a tolerance of 0 s',
    delivery({ off: 1, tolerance: 0 }),
    ['timestamp_out_of_tolerance'],
  ],
  ['a signed time of any age, with the tolerance null', delivery({ off: -1e9, tolerance: null }), ['evt_1']],
  [
    'a webhook-timestamp that was changed after signing',
    delivery({ headers: { 'webhook-timestamp': String(at + 900) } }),
    ['missing_timestamp'],
  ],
  [
    'a webhook-timestamp in Arabic digits',
    delivery({ headers: signed(Buffer.from(event), secret, '١٢٣') }),
    ['missing_timestamp'],
  ],
  [
    'a webhook-timestamp of 13 digits',
    delivery({ headers: signed(Buffer.from(event), secret, '9'.repeat(13)) }),
    ['missing_timestamp'],
  ],
  [
    'a webhook-timestamp with a fraction',
    delivery({ headers: signed(Buffer.from(event), secret, `${at}.5`) }),
    ['missing_timestamp'],
  ],
  [
    'a webhook-id that was changed after signing',
    delivery({ headers: { 'webhook-id': 'evt_2' } }),
    ['missing_timestamp'],
  ],
  ['a delivery without webhook-id', delivery({ headers: { 'webhook-id': 'none' } }), ['missing_timestamp']],
  ['a delivery without webhook-signature', standardOf('none'), ['missing_timestamp']],
  [
    'a webhook-signature list with one valid signature',
    standardOf(`v1a,x v1,AAAA ${standard} v1,%%%`),
    ['evt_1'],
  ],
  ['a webhook-signature of the version v2', standardOf(standard.replace('v1', 'v2')), ['missing_timestamp']],
  [
    'a webhook-signature that begins with v1= in place of v1,',
    standardOf(standard.replace('v1,', 'v1=')),
    ['missing_timestamp'],
  ],
  [
    'a webhook-signature without Base64 padding',
    standardOf(standard.replace('=', '')),
    ['missing_timestamp'],
  ],
  [
    'a webhook-signature with spare bits in its Base64',
    standardOf(standard.replace(/.=$/, (end) => `${String.fromCharCode(end.charCodeAt(0) + 1)}=`)),
    ['missing_timestamp'],
  ],
  [
    'a secret that is not Base64',
    delivery({ secret: 'whsec_%%%%', headers: signed(Buffer.from(event), 'whsec_%%%%') }),
    ['missing_timestamp'],
  ],
  ['a signed empty body', signedBody(''), ['malformed_event']],
  ['a signed HTML page', signedBody('<html>'), ['malformed_event']],
  ['the signed JSON value null', signedBody('null'), ['malformed_event']],
  ['a signed JSON list', signedBody('[]'), ['malformed_event']],
  ['a signed JSON text', signedBody('"event"'), ['malformed_event']],
  ['a signed object without an event', signedBody('{"event_id":"evt_1"}'), ['malformed_event']],
  ['a signed event whose id is a number', signedBody('{"event":"a","event_id":1}'), ['malformed_event']],
  ['a signed event of an unknown type', signedBody('{"event":"a.b","event_id":"evt_9"}'), ['evt_9']],
  ['a signed body with a byte order mark', signedBody(`\uFEFF${event}`), ['malformed_event']],
  ['a signed body that is not UTF-8', signedBody(Buffer.from(event, 'latin1')), ['malformed_event']],
  ['a signed body in UTF-16', signedBody(Buffer.from(event, 'utf16le')), ['malformed_event']],
  ['a signed body with the number NaN', signedBody(event.replace('}', ',"n":NaN}')), ['malformed_event']],
];

const oauth = (error: unknown, error_description: unknown) => JSON.stringify({ error, error_description });
const retryAfter = (value: string): ErrorCase => ({
  status: 429,
  headers: { 'retry-after': value },
  body: oauth('rate_limited', 'minute'),
});

/** A result is the code, the seconds to wait, and whether the call may be repeated. */
export const errorCases: [about: string, given: ErrorCase, answer: Answer][] = [
  [
    'a 400 with an OAuth error',
    { status: 400, headers: {}, body: oauth('invalid_grant', 'x') },
    ['invalid_grant', null, false],
  ],
  [
    'a 404 with a general error and its code in X-SVC-Error',
    { status: 404, headers: { 'X-SVC-Error': 'session_not_found' }, body: '{"success":false,"error":"x"}' },
    ['session_not_found', null, false],
  ],
  [
    'a 404 with a general error but without X-SVC-Error',
    { status: 404, headers: {}, body: '{"error":"x"}' },
    ['unknown_answer', null, false],
  ],
  ...['', '<html>', 'null', '[]', '"x"', '{"error":', oauth(1, 'x'), oauth({}, {}), oauth('x', null)].map(
    (body): [string, ErrorCase, Answer] => [
      body === '' ? 'a 400 with an empty body' : `a 400 with the body ${body}`,
      { status: 400, headers: {}, body },
      ['unknown_answer', null, false],
    ],
  ),
  [
    'a 502 with an HTML page of a proxy',
    { status: 502, headers: {}, body: '<html>' },
    ['unknown_answer', null, true],
  ],
  ['a 302', { status: 302, headers: { location: '/' }, body: '' }, ['unknown_answer', null, false]],
  ['a 201 in place of 200', { status: 201, headers: {}, body: '{}' }, ['unknown_answer', null, false]],
  ['a 429 with Retry-After in seconds', retryAfter('7'), ['rate_limited', 7, true]],
  [
    'a 429 with a Retry-After of over a century',
    retryAfter('9999999999'),
    ['rate_limited', 9_999_999_999, true],
  ],
  [
    'a 429 with a past date in Retry-After',
    retryAfter('Wed, 21 Oct 2015 07:28:00 GMT'),
    ['rate_limited', 0, true],
  ],
  ...['', '-5', '5.5', '1e3', 'soon', '5 s', '2015-10-21', '21 Oct 2015', '٧'].map(
    (value): [string, ErrorCase, Answer] => [
      `a 429 with the malformed Retry-After "${value}"`,
      retryAfter(value),
      ['rate_limited', null, true],
    ],
  ),
];

/**
 * The result of a call: `read` of its value, or the fields of its error.
 * @throws any error that is not the library's
 */
async function answerOf<T>(call: () => T | Promise<T>, read: (result: T) => Answer): Promise<Answer> {
  try {
    return read(await call());
  } catch (error) {
    if (error instanceof AuthorizationError)
      return [error.code, error.reason ?? null, error.retryable, error.sessionId ?? null];
    if (error instanceof ApiError) return [error.code, error.retryAfterSeconds ?? null, error.retryable];
    if (error instanceof SvcError) return [error.code];
    throw error;
  }
}

/** Calls of the TypeScript SDK, which return results as the tables have them. */
export const typescript = {
  callback: (given: CallbackCase) =>
    answerOf(
      () => createClient({ baseUrl }).callback(given.query, { state: given.state ?? undefined }),
      ({ code, sessionId }) => [code, sessionId ?? null],
    ),

  delivery({ body, headers: pairs, secret: by, now, tolerance }: DeliveryCase) {
    const headers: Record<string, string[]> = {};
    for (const [name, value] of pairs) headers[name] = [...(headers[name] ?? []), value];
    const settings = { secret: by, now: () => now * 1000, toleranceSeconds: tolerance };
    return answerOf(
      () => verifyWebhook({ body: Buffer.from(body, 'base64'), headers }, settings),
      ({ event_id: id }) => [id],
    );
  },

  error({ status, headers, body }: ErrorCase) {
    const isEmpty = status === 204;
    const fetch = async () => {
      const response = new Response(isEmpty ? null : body, { status });
      // A proxy may send characters beyond Latin-1, which `Headers` refuses.
      const get = (name: string) =>
        Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? null;
      return Object.defineProperty(response, 'headers', { value: { get } });
    };
    const client = createClient({ baseUrl }, { fetch, sleep: async () => {} });
    return answerOf(
      () => client.userinfo('token'),
      () => ['success'],
    );
  },
};

const part = fc.constantFrom(
  '',
  state,
  'x',
  'c',
  'ses_1',
  'é',
  '%FF',
  '%',
  '+',
  'source_error: x',
  'a_b: ',
  baseUrl,
  `${baseUrl}/`,
);
const parameter = fc
  .tuple(
    fc.constantFrom(
      'state',
      'iss',
      'code',
      'error',
      'error_description',
      'session_id',
      'State',
      'state[]',
      '',
    ),
    part,
    fc.constantFrom('&', '&&', '&;', '#', '?'),
  )
  .map(([name, value, end]) => `${name}=${value}${end}`);
const anyQuery = fc
  .tuple(
    fc.constantFrom('', '?', '/callback?', `${ours}&`, `?${ours}&`),
    fc.array(parameter, { maxLength: 5 }),
  )
  .map(([begin, parameters]): CallbackCase => ({ query: begin + parameters.join(''), state }));

const anyDelivery = fc
  .record({
    about: fc.constantFrom(...Object.keys(good), 'body', 'secret'),
    index: fc.nat(120),
    by: fc.constantFrom('', ' ', ',', '=', '0', 'A', 'a', 'é', 'v1,', '\t'),
    drop: fc.nat(2),
    off: fc.constantFrom(-301, -300, 0, 300, 301),
    tolerance: fc.constantFrom(300, 0, null),
  })
  .map(({ about, index, by, drop, off, tolerance }): DeliveryCase => {
    const splice = (text: string) => text.slice(0, index) + by + text.slice(index + drop);
    if (about === 'body') return delivery({ body: splice(event), off, tolerance });
    if (about === 'secret') return delivery({ secret: splice(secret), off, tolerance });
    return delivery({ headers: { [about]: splice(good[about] ?? '') }, off, tolerance });
  });

const anyError = fc.record({
  status: fc.constantFrom(201, 302, 400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503),
  headers: fc.record(
    {
      'Retry-After': fc.constantFrom('0', ' 7 ', '31', '007', '+7', '7,8', 'Thu, 01 Jan 1970 00:00:00 GMT'),
      'X-SVC-Error': fc.constantFrom('', 'not_found'),
    },
    { requiredKeys: [] },
  ),
  body: fc.oneof(
    fc.constantFrom(
      '',
      '{}',
      '{"error":"a"}',
      '{"error":"a","error_description":"b"}',
      '{"error":"","error_description":""}',
    ),
    fc.json({ maxDepth: 1 }),
  ),
});

/** Makes random cases with the results of the TypeScript SDK, whose correctness the tables above test. */
async function sampled<T>(any: fc.Arbitrary<T>, answer: (given: T) => Promise<Answer>) {
  const cases = fc.sample(any, 400);
  return Promise.all(cases.map(async (given) => ({ given, answer: await answer(given) })));
}
const listed = <T>(cases: [string, T, Answer][]) => cases.map(([, given, answer]) => ({ given, answer }));

/** Returns the cases of the tables and random cases, for the libraries of other languages. */
export const allCases = async () => ({
  callbacks: [...listed(callbackCases), ...(await sampled(anyQuery, typescript.callback))],
  deliveries: [...listed(deliveryCases), ...(await sampled(anyDelivery, typescript.delivery))],
  errors: [...listed(errorCases), ...(await sampled(anyError, typescript.error))],
});
