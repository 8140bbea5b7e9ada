import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SvcError, verifyWebhook, WebhookError } from '../../sdk/typescript/src/index.ts';
import { signatureHeaders } from '../../server/webhooks/egress/signature.ts';

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const at = 1_783_864_991_000;
const body = JSON.stringify({ event: 'enrollment.created', event_id: 'evt_1', partner_id: 'ptr_ü' });
const lower = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
const headersOf = (text = body, by = secret) =>
  lower(signatureHeaders({ eventId: 'evt_1', body: text, secret: by, at }));
const settings = { secret, now: () => at };

const codeOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'verified',
    (error: SvcError) => (error instanceof WebhookError ? error.code : `thrown: ${String(error)}`),
  );

describe('verifyWebhook of the TypeScript SDK', () => {
  it('takes bytes and text, and headers in any form', async () => {
    const headers = headersOf();
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    for (const form of [headers, upper, new Headers(headers)])
      for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body)])
        expect(await verifyWebhook({ body: raw, headers: form }, settings)).toMatchObject({
          event_id: 'evt_1',
        });
  });

  it('refuses every other body, signature and secret', async () => {
    const bytes = [...Buffer.from(body)];
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (index, change) => {
        const changed = Uint8Array.from(bytes, (byte, position) =>
          position === index ? byte ^ change : byte,
        );
        expect(await codeOf(verifyWebhook({ body: changed, headers: headersOf() }, settings))).toBe(
          'invalid_signature',
        );
      }),
    );
    const good = headersOf()['x-svc-signature'] ?? '';
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.nat(70).map((length) => good.slice(0, length)),
          fc.constant(good.toUpperCase()),
        ),
        async (signature) => {
          const headers = { ...headersOf(), 'x-svc-signature': signature };
          expect(await codeOf(verifyWebhook({ body, headers }, settings))).toBe('invalid_signature');
        },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1 }), async (other) => {
        expect(
          await codeOf(verifyWebhook({ body, headers: headersOf() }, { ...settings, secret: other })),
        ).toBe('invalid_signature');
      }),
    );
  });

  it.each([
    [-300, 'verified'],
    [300, 'verified'],
    [-301, 'timestamp_out_of_tolerance'],
    [301, 'timestamp_out_of_tolerance'],
    [Number.NaN, 'timestamp_out_of_tolerance'],
  ])('answers a clock that is %d s off with %s', async (off, code) => {
    const now = () => at + off * 1000;
    expect(await codeOf(verifyWebhook({ body, headers: headersOf() }, { secret, now }))).toBe(code);
    expect(
      await codeOf(verifyWebhook({ body, headers: headersOf() }, { secret, now, toleranceSeconds: null })),
    ).toBe('verified');
  });

  it('believes no timestamp that is not signed', async () => {
    for (const changed of [
      { 'webhook-timestamp': String(at / 1000 + 900) },
      { 'webhook-timestamp': '' },
      { 'webhook-timestamp': '1e9' },
      { 'webhook-id': 'evt_2' },
      { 'webhook-signature': 'v1,%%%' },
      { 'webhook-signature': 'v2,AAAA' },
    ])
      expect(await codeOf(verifyWebhook({ body, headers: { ...headersOf(), ...changed } }, settings))).toBe(
        'missing_timestamp',
      );
    const { 'x-svc-signature': contract = '' } = headersOf();
    const alone = { body, headers: { 'x-svc-signature': contract } };
    expect(await codeOf(verifyWebhook(alone, settings))).toBe('missing_timestamp');
    expect(await codeOf(verifyWebhook(alone, { ...settings, toleranceSeconds: null }))).toBe('verified');
  });

  it('takes one of several signatures of Standard Webhooks', async () => {
    const headers = headersOf();
    headers['webhook-signature'] = `v1a,x v1,AAAA ${headers['webhook-signature']}`;
    expect(await codeOf(verifyWebhook({ body, headers }, settings))).toBe('verified');
  });

  it('says what is missing', async () => {
    const headers = headersOf();
    expect(await codeOf(verifyWebhook({ body, headers }, { ...settings, secret: '' }))).toBe(
      'secret_required',
    );
    expect(await codeOf(verifyWebhook({ body, headers: {} }, settings))).toBe('missing_signature');
    const twice = { ...headers, 'x-svc-signature': [headers['x-svc-signature'] ?? '', 'x'] };
    expect(await codeOf(verifyWebhook({ body, headers: twice }, settings))).toBe('missing_signature');
    // A program without types passes what its framework has parsed.
    const parsed = JSON.parse(body) as string;
    expect(await codeOf(verifyWebhook({ body: parsed, headers }, settings))).toBe('raw_body_required');
  });

  it.each(['', 'null', '[]', '{}', '{"event":1,"event_id":"x"}', '\u0000'])(
    'refuses a signed %j, which is no event',
    async (text) => {
      expect(await codeOf(verifyWebhook({ body: text, headers: headersOf(text) }, settings))).toBe(
        'malformed_event',
      );
    },
  );
});
