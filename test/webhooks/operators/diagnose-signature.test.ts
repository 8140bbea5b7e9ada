import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { randomSecret } from '../../../server/platform/ids.ts';
import { contractSignature, standardSignature } from '../../../server/webhooks/egress/signature.ts';
import {
  type Captured,
  checkSignature,
} from '../../../server/webhooks/operators/endpoints/diagnose-signature.ts';

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

describe('the diagnosis of a webhook signature', () => {
  it('reports verified and no faults for a request as it was sent', () => {
    expect(checkSignature(captured)).toEqual({ verified: true, eventId, faults: [], reasons: [] });
    expect(checkSignature({ ...captured, sent: undefined })).toEqual({
      verified: true,
      eventId: null,
      faults: [],
      reasons: [],
    });
  });

  it.each<[what: string, faults: string, change: Partial<Captured>]>([
    ['the signature is missing', 'missing_signature', { signature: ' ' }],
    ['the signature lacks sha256=', 'missing_prefix', { signature: hex }],
    ['the signature has upper-case digits', 'upper_case', { signature: `sha256=${hex.toUpperCase()}` }],
    ['the signature begins with SHA256=', 'missing_prefix', { signature: `SHA256=${hex}` }],
    [
      'the signature lacks sha256= and has upper-case digits',
      'missing_prefix, upper_case',
      { signature: hex.toUpperCase() },
    ],
    ['the signature ends with a space', 'missing_prefix', { signature: `${signature} ` }],
    [
      'the signature is in base64',
      'not_hex',
      { signature: createHmac('sha256', secret).update(body).digest('base64') },
    ],
    [
      'the signature is that of the Standard Webhooks header',
      'standard_signature',
      { signature: standardSignature({ eventId, body: text, secret }, 1) },
    ],
    [
      'the receiver signs with the secret without whsec_',
      'wrong_key_form',
      { signature: contractSignature(body, secret.slice(6)), sent: undefined },
    ],
    ['the body was serialised again', 'altered_body', { body: Buffer.from(text.replace(':', ': ')) }],
    ['the body ends with an added line feed', 'altered_body', { body: Buffer.from(`${text}\n`) }],
    ['the secret is an old one', 'old_secret', { signature: contractSignature(body, old) }],
    [
      'the secret is an old one and the body differs',
      'altered_body',
      { signature: contractSignature(body, old), body: Buffer.from(`${text} `) },
    ],
    ['the secret is unknown', 'wrong_secret', { signature: contractSignature(body, 'whsec_other') }],
    [
      'the secret is an old one and the event is unknown',
      'wrong_secret',
      { signature: contractSignature(body, old), sent: undefined },
    ],
    ['the signature is no hexadecimal text', 'wrong_secret', { signature: 'sha256=xyz' }],
  ])('recognises that %s, and reports %s', (_what, faults, change) => {
    const verdict = checkSignature({ ...captured, ...change });
    expect(verdict.faults).toEqual(faults.split(', '));
    expect(verdict.verified).toBe(false);
    expect(verdict.reasons).toHaveLength(verdict.faults.length);
  });

  it.each([
    ['added', Buffer.from(`${text} \n`), contractSignature(body, secret)],
    ['removed', body, contractSignature(`${text}\n`, secret)],
  ])(
    'reports altered_body if white space was %s at the end of the body of an unknown event',
    (_, given, signed) => {
      expect(faultsOf({ body: given, signature: signed, sent: undefined })).toEqual(['altered_body']);
    },
  );

  it('names the byte from which the received body differs from the sent one', () => {
    expect(checkSignature({ ...captured, body: Buffer.from(`${text}\n`) }).reasons[0]).toContain(
      `from byte ${body.length} on`,
    );
  });

  it('reports receiver_computes_another if the request is valid but the receiver computes another signature', () => {
    expect(faultsOf({ computed: signature })).toEqual([]);
    const verdict = checkSignature({ ...captured, computed: contractSignature(body, secret.slice(6)) });
    expect(verdict).toMatchObject({ verified: true, faults: ['receiver_computes_another'] });
    expect(verdict.reasons[0]).toContain('whsec_ included');
  });

  it('does not contain the signing secret, whatever the fault is', () => {
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
