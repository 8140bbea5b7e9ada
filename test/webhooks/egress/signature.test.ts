import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { randomSecret } from '../../../server/platform/ids.ts';
import { contractSignature, signatureHeaders } from '../../../server/webhooks/egress/signature.ts';
import { anyText } from '../../harness/any-text.ts';

describe('X-SVC-Signature', () => {
  it('equals the test vector that GitHub publishes for the same signature format', () => {
    expect(contractSignature('Hello, World!', "It's a Secret to Everybody")).toBe(
      'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    );
  });

  it('is "sha256=" and 64 hexadecimal digits for any body', () => {
    fc.assert(
      fc.property(anyText(), (body) => {
        expect(contractSignature(body, 'whsec_x')).toMatch(/^sha256=[0-9a-f]{64}$/);
      }),
    );
  });
});

describe('the Standard Webhooks headers', () => {
  it('are verified by the official library, for any body and any of our secrets', () => {
    fc.assert(
      fc.property(anyText(), fc.uuid(), (body, eventId) => {
        const secret = randomSecret('webhookSecret');
        const headers = signatureHeaders({ eventId, body, secret, at: Date.now() });
        new Webhook(secret).verify(body, headers, { jsonParse: false });
      }),
    );
  });

  it('are refused with another secret, another body or another id', () => {
    const secret = randomSecret('webhookSecret');
    const headers = signatureHeaders({ eventId: 'evt_1', body: '{}', secret, at: Date.now() });
    const verify =
      (body: string, given: Record<string, string>, key = secret) =>
      () =>
        new Webhook(key).verify(body, given);
    expect(verify('{}', headers)).not.toThrow();
    expect(verify('{}', headers, randomSecret('webhookSecret'))).toThrow();
    expect(verify('{ }', headers)).toThrow();
    expect(verify('{}', { ...headers, 'webhook-id': 'evt_2' })).toThrow();
  });
});
