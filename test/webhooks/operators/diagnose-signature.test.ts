import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { randomSecret } from '../../../server/platform/ids.ts';
import { contractSignature, standardSignature } from '../../../server/webhooks/egress/signature.ts';
import { type Captured, checkSignature } from '../../../server/webhooks/operators/diagnose-signature.ts';

const secret = randomSecret('webhookSecret');
const old = randomSecret('webhookSecret');
const eventId = 'evt_0000000000000000000001';
const text = `{"event":"enrollment.created","event_id":"${eventId}"}`;
const body = Buffer.from(text);
const signature = contractSignature(body, secret);
const at = new Date('2026-01-01T00:00:00Z');
const row = { attempt: 1, trigger: 'event' as const, dueAt: at, at };
const sent = {
  eventId,
  body,
  attempts: [
    { ...row, secretVersion: 1, signature: contractSignature(body, old) },
    { ...row, secretVersion: 2, signature },
  ],
};
const captured: Captured = { body, signature, secret, secretVersion: 2, sent };
const faultsOf = (change: Partial<Captured>) => checkSignature({ ...captured, ...change }).faults;
const hex = signature.slice('sha256='.length);

describe('the diagnosis of a signature', () => {
  it('reports verified and no faults for a request exactly as it was sent', () => {
    expect(checkSignature(captured)).toEqual({ verified: true, eventId, faults: [], reasons: [] });
    expect(checkSignature({ ...captured, sent: undefined })).toEqual({
      verified: true,
      eventId: null,
      faults: [],
      reasons: [],
    });
  });

  it.each<[string, string[], Partial<Captured>]>([
    ['no signature', ['missing_signature'], { signature: ' ' }],
    ['a missing prefix', ['missing_prefix'], { signature: hex }],
    ['upper-case hex', ['upper_case'], { signature: `sha256=${hex.toUpperCase()}` }],
    ['an upper-case prefix', ['missing_prefix'], { signature: `SHA256=${hex}` }],
    ['both', ['missing_prefix', 'upper_case'], { signature: hex.toUpperCase() }],
    ['spaces', ['missing_prefix'], { signature: `${signature} ` }],
    ['base64', ['not_hex'], { signature: createHmac('sha256', secret).update(body).digest('base64') }],
    [
      'the other header',
      ['standard_signature'],
      { signature: standardSignature({ eventId, body: text, secret }, 1) },
    ],
    [
      'a key without whsec_',
      ['wrong_key_form'],
      { signature: contractSignature(body, secret.slice(6)), sent: undefined },
    ],
    ['a re-serialised body', ['altered_body'], { body: Buffer.from(text.replace(':', ': ')) }],
    ['a line end', ['altered_body'], { body: Buffer.from(`${text}\n`) }],
    ['an old secret', ['old_secret'], { signature: contractSignature(body, old) }],
    [
      'an old secret and another body',
      ['altered_body'],
      { signature: contractSignature(body, old), body: Buffer.from(`${text} `) },
    ],
    ['another secret', ['wrong_secret'], { signature: contractSignature(body, 'whsec_other') }],
    ['an unknown event', ['wrong_secret'], { signature: contractSignature(body, old), sent: undefined }],
    ['nonsense', ['wrong_secret'], { signature: 'sha256=xyz' }],
  ])('recognises %s', (_what, faults, change) => {
    const verdict = checkSignature({ ...captured, ...change });
    expect(verdict.faults).toEqual(faults);
    expect(verdict.verified).toBe(false);
    expect(verdict.reasons).toHaveLength(faults.length);
  });

  it.each([
    [Buffer.from(`${text} \n`), contractSignature(body, secret)],
    [body, contractSignature(`${text}\n`, secret)],
  ])('recognises white space at the end of an unknown body', (given, signed) => {
    expect(faultsOf({ body: given, signature: signed, sent: undefined })).toEqual(['altered_body']);
  });

  it('states the byte from which a body differs', () => {
    expect(checkSignature({ ...captured, body: Buffer.from(`${text}\n`) }).reasons[0]).toContain(
      `from byte ${body.length} on`,
    );
  });

  it("explains the receiver's own wrong result if the request is valid", () => {
    expect(faultsOf({ computed: signature })).toEqual([]);
    const verdict = checkSignature({ ...captured, computed: contractSignature(body, secret.slice(6)) });
    expect(verdict).toMatchObject({ verified: true, faults: ['receiver_computes_another'] });
    expect(verdict.reasons[0]).toContain('whsec_ included');
  });

  it('never contains the secret', () => {
    for (const change of [
      { signature: hex },
      { signature: 'x' },
      { body: Buffer.alloc(0) },
      { computed: 'y' },
    ]) {
      expect(JSON.stringify(checkSignature({ ...captured, ...change }))).not.toContain(secret);
    }
  });
});
