import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OAuthServer, startOAuth } from './oauth-server.ts';

let oauth: OAuthServer;
beforeAll(async () => {
  oauth = await startOAuth();
});
afterAll(() => oauth.stop());

/**
 * docs/choices.md: grant_type → rest of the body → client credentials → client_inactive → client rate limit → code →
 * redirect_uri → PKCE → scope → enrollment → spend caps → balance. The request starts with every fault, and the test
 * removes one after another.
 */
describe('the order of checks at the token endpoint', () => {
  it('is fixed: each corrected fault of a request leads to the next error, and finally to 200', async () => {
    const { admin } = oauth.server;
    const partner = await oauth.partner({ funds: 0 });
    const { partnerId, clientId } = partner;
    const mode = 'test' as const;
    const verified = await oauth.verified(partner);
    const [enrollment] = await admin.enrollments.list.query({ partnerId });
    const enrollmentId = enrollment?.id ?? '';

    await admin.limits.set.mutate({ partnerId, mode, perMinute: 0 });
    await admin.enrollments.block.mutate({ enrollmentId, reason: 'duplicate face' });
    await admin.clients.update.mutate({ clientId, claims: ['country'], tokenRequestsPerMinute: 1 });
    const wrong: Record<string, string | undefined> = {
      grant_type: 'password',
      client_secret: 'svc_secret_wrong',
      code: 'svc_code_unknown',
      redirect_uri: 'http://localhost:9999/callback/',
      code_verifier: 'too short',
    };
    const attempt = () => oauth.exchange(partner, verified, wrong);
    const mend = (field: string) => async () => void delete wrong[field];
    const mistake = (field: string, value: string) => async () =>
      void Object.assign(wrong, { [field]: value });

    // Uses up the minute's only request, so that the limit refuses as well.
    await oauth.exchange(partner, { ...verified, code: 'svc_code_unknown' });
    await admin.partners.suspend.mutate({ partnerId });

    const ladder: [number, string, RegExp, () => Promise<unknown>][] = [
      [400, 'unsupported_grant_type', /grant_type/, mend('grant_type')],
      [400, 'invalid_request', /code_verifier/, mistake('code_verifier', 'x'.repeat(43))],
      [401, 'invalid_client', /client_secret/, mend('client_secret')],
      [403, 'client_inactive', /not active/, () => admin.partners.activate.mutate({ partnerId })],
      [
        429,
        'rate_limited',
        /^Token endpoint rate limit exceeded$/,
        () => admin.clients.update.mutate({ clientId, tokenRequestsPerMinute: 50 }),
      ],
      [400, 'invalid_grant', /^code fails its checksum/, mend('code')],
      [400, 'invalid_redirect_uri', /redirect_uri/, mend('redirect_uri')],
      [400, 'invalid_grant', /^code_verifier does not match/, mend('code_verifier')],
      [
        400,
        'invalid_scope',
        /age_18_plus, identity_verified/,
        () => admin.clients.update.mutate({ clientId, claims: ['age_18_plus', 'identity_verified'] }),
      ],
      [403, 'access_denied', /blocked/, () => admin.enrollments.unblock.mutate({ enrollmentId })],
      [
        429,
        'rate_limited',
        /^Spend limit exceeded: minute bucket$/,
        () => admin.limits.set.mutate({ partnerId, mode, perMinute: 60 }),
      ],
      [
        402,
        'payment_required',
        /balance/,
        () => admin.wallets.fund.mutate({ partnerId, mode, amount: 5_000, reference: 'opening' }),
      ],
    ];
    for (const [status, error, description, cure] of ladder) {
      expect(await attempt()).toMatchObject({
        status,
        error,
        error_description: expect.stringMatching(description),
      });
      await cure();
    }
    expect(await attempt()).toMatchObject({ status: 200, scope: 'age_18_plus identity_verified' });
    expect(await oauth.wallet(partner)).toEqual({ balance: 4_950, entries: 2 });
  });
});
