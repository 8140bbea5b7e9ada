import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SvcError, verifyWebhook, WebhookError } from '../../sdk/typescript/src/index.ts';
import { signatureHeaders } from '../../server/webhooks/egress/signature.ts';
import { deliveryCases, typescript } from './cases.ts';

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
  const cases = deliveryCases.map(([about, given, answer]) => {
    const [idOrCode] = answer;
    const isAccepted = String(idOrCode).startsWith('evt_');
    return [isAccepted ? 'returns the event' : `throws ${idOrCode}`, about, given, answer] as const;
  });

  it.each(cases)('%s for %s', async (_result, _about, given, answer) => {
    expect(await typescript.delivery(given)).toEqual(answer);
  });

  it('accepts a body as bytes or text, and headers in capitals or as an object of the class Headers', async () => {
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

  it('throws invalid_signature for every changed body, signature or secret', async () => {
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

  it('throws timestamp_out_of_tolerance if its clock returns no number', async () => {
    const now = () => Number.NaN;
    expect(await codeOf(verifyWebhook({ body, headers: headersOf() }, { secret, now }))).toBe(
      'timestamp_out_of_tolerance',
    );
  });

  it('throws raw_body_required for a body that a framework has parsed', async () => {
    // A program without type checks can pass an object.
    const parsed = JSON.parse(body) as string;
    expect(await codeOf(verifyWebhook({ body: parsed, headers: headersOf() }, settings))).toBe(
      'raw_body_required',
    );
  });
});
