import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Reason, reasons } from '../../../contracts/reasons.ts';
import { FailureReason } from '../../../contracts/verification.ts';
import { redirectOf, redirectTarget } from '../../../server/pages/flow/complete.ts';

const issuer = 'https://verify.example';
const sessionId = 'ses_0000000000000000000000';
const uris = fc.constantFrom(
  'https://shop.example',
  'https://shop.example/',
  'https://shop.example/cb?a=1&b=%2F+x',
  'https://shop.example/cb?',
  'https://shop.example/cb?a=1&',
  'http://localhost:3000/%E4?x',
);
const states = fc.string({ unit: 'grapheme', minLength: 16, maxLength: 64 });

describe('the redirect to the partner', () => {
  it('begins with the registered redirect URI, and contains the state unchanged', () => {
    fc.assert(
      fc.property(uris, states, (redirectUri, state) => {
        const location = redirectOf({ _id: sessionId, state, redirectUri }, { code: 'svc_code_x' }, issuer);
        expect(location.startsWith(redirectUri)).toBe(true);
        const added = location.slice(redirectUri.length).replace(/^[?&]/, '');
        const [code, sent, iss, session] = added
          .split('&')
          .map((pair) => decodeURIComponent(pair.split('=')[1] ?? ''));
        expect([code, sent, iss, session]).toEqual(['svc_code_x', state, issuer, sessionId]);
        expect(new URL(location).searchParams.get('state')).toBe(state);
      }),
    );
  });

  it('contains an error and its description in place of a code after a failure', () => {
    const location = redirectOf(
      { _id: sessionId, state: 's&t', redirectUri: 'https://a.example/?x=1' },
      { reason: 'consent_declined' },
      issuer,
    );
    const parameters = Object.fromEntries(new URL(location).searchParams);
    expect(Object.keys(parameters)).toEqual([
      'x',
      'error',
      'error_description',
      'state',
      'iss',
      'session_id',
    ]);
    expect(parameters).toMatchObject({
      x: '1',
      error: 'access_denied',
      state: 's&t',
      iss: issuer,
      session_id: sessionId,
    });
  });

  it.each(Object.keys(reasons) as Reason[])(
    'contains the error code of the failure %s, and a description that begins with its name',
    (reason) => {
      const session = { _id: sessionId, state: 's', redirectUri: 'https://a.example' };
      const location = redirectOf(session, { reason }, issuer);
      const { error, error_description: text = '' } = Object.fromEntries(new URL(location).searchParams);
      expect(error).toBe(reasons[reason].error);
      expect(text.startsWith(`${reason}: `)).toBe(true);
      // RFC 6749 4.1.2.1 allows only these characters.
      expect(text).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
    },
  );

  it('contains access_denied for declined consent, and verification_failed for every other failure', () => {
    const ofFailures = FailureReason.options.map((reason) => [reason, reasons[reason].error]);
    expect(Object.fromEntries(ofFailures)).toEqual({
      abandoned: 'verification_failed',
      consent_declined: 'access_denied',
      document_rejected: 'verification_failed',
      source_error: 'verification_failed',
    });
  });

  it('never goes to a URI that is not registered', () => {
    fc.assert(
      fc.property(uris, fc.uniqueArray(uris), (redirectUri, registered) => {
        const target = redirectTarget(redirectUri, registered);
        if (target) expect(registered).toContain(target.uri);
        else expect(registered).toEqual([]);
        expect(target?.isOfSession ?? false).toBe(registered.includes(redirectUri));
      }),
    );
  });
});
