import { randomBytes } from 'node:crypto';
import type { CommandStartedEvent, Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOfSecret, randomSecret, secretOfBytes } from '../../../server/platform/ids.ts';
import { readLedger } from '../../billing/ledger-snapshot.ts';
import { redirectUri, type TestPartner } from '../../harness/partner.ts';
import { bearer, type OAuthServer, startOAuth } from './oauth-server.ts';

const commands: CommandStartedEvent[] = [];
let oauth: OAuthServer;
let partner: TestPartner;
const manyRequests = { tokenRequestsPerMinute: 100_000 };

beforeAll(async () => {
  oauth = await startOAuth({}, (event) => commands.push(event));
  partner = await oauth.partner({ client: manyRequests });
});
afterAll(() => oauth.stop());

/** A read of a command: collection, filter fields, and projected fields. One command may contain several. */
function readsOf({ command }: CommandStartedEvent) {
  const { find, filter, projection = {}, aggregate, pipeline = [] } = command;
  if (find) return [{ of: find, filter, fields: projection }];
  const readOf = (of: string, [match, project]: Document[]) => ({
    of,
    filter: match?.['$match'] ?? {},
    fields: { ...project?.['$project'], _read: 1 },
  });
  const joined = (pipeline as Document[]).flatMap(({ $unionWith: union }) =>
    union ? [readOf(union.coll, union.pipeline)] : [],
  );
  return aggregate ? [readOf(aggregate, pipeline), ...joined] : [];
}

const invalidGrant = (description: RegExp) => ({
  status: 400,
  error: 'invalid_grant',
  error_description: expect.stringMatching(description),
});

describe('POST /api/oauth/token for an unknown code', () => {
  it('answers 400 invalid_grant if the code is malformed, has another last character or is in lower case', async () => {
    const verified = await oauth.verified(partner);
    for (const code of ['svc_code_x', `${verified.code.slice(0, -1)}~`, verified.code.toLowerCase()]) {
      expect(await oauth.exchange(partner, { ...verified, code })).toMatchObject(
        invalidGrant(/^Unknown authorization code|^code fails its checksum/),
      );
    }
  });

  it('gives the same answer after the same database reads for a code with a wrong secret as for an unknown session', async () => {
    const verified = await oauth.verified(partner);
    const bytes = bytesOfSecret('code', verified.code) ?? expect.fail('no code');
    const forged = secretOfBytes('code', Buffer.concat([bytes.subarray(0, 16), randomBytes(16)]));
    const unknown = randomSecret('code');
    const told = async (code: string) => {
      commands.length = 0;
      const { status, headers, body } = await oauth.exchange(partner, { ...verified, code });
      const named = [...headers.keys()].filter((name) => name !== 'date').toSorted();
      // Reads for the request log are left out, because they may happen at any time.
      const asked = commands
        .flatMap(readsOf)
        .filter(
          ({ of, fields }) =>
            of === 'ledger' || (of === 'sessions' && !Object.keys(fields).includes('partnerId')),
        );
      const shapes = asked.map(({ filter, fields }) => [Object.keys(filter), fields]);
      return { status, body, headers: named, shapes };
    };
    const of = await told(forged);
    expect(of).toEqual(await told(unknown));
    expect(of).toMatchObject({ status: 400, shapes: [[['_id', 'code.hash'], expect.anything()]] });
    // None of these exchanges counts as a wrong verifier, so the code stays valid for its owner.
    for (let tries = 0; tries < 6; tries += 1)
      await oauth.exchange(partner, { ...verified, code: forged, codeVerifier: 'x'.repeat(43) });
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
    expect(await told(forged)).toEqual(of);
  });

  it('answers 400 invalid_grant to the code of another client, and the code stays valid for its owner', async () => {
    const verified = await oauth.verified(partner);
    const { id: clientId, clientSecret } = await oauth.server.admin.clients.create.mutate({
      partnerId: partner.partnerId,
      keyId: partner.keyId,
      name: 'Sibling',
      redirectUris: [redirectUri],
      claims: ['age_18_plus', 'identity_verified'],
    });
    const foreign = await oauth.partner();
    for (const other of [{ ...partner, clientId, clientSecret }, foreign]) {
      expect(await oauth.exchange(other, verified)).toMatchObject(
        invalidGrant(/^Unknown authorization code/),
      );
    }
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });
});

describe('POST /api/oauth/token for a storefront code', () => {
  it('answers 400 invalid_grant, without a charge', async () => {
    const storefront = await oauth.partner({ client: { kind: 'storefront', ...manyRequests } });
    const { partnerId, clientId } = storefront;
    await oauth.server.admin.integrations.create.mutate({ partnerId, clientId, shops: ['shop.example'] });
    const verified = await oauth.verified(storefront);
    const before = await oauth.wallet(storefront);
    expect(await oauth.exchange(storefront, verified)).toMatchObject(invalidGrant(/storefront/));
    expect(await oauth.wallet(storefront)).toEqual(before);
  });
});

describe('POST /api/oauth/token for an expired code', () => {
  it('answers 200 until the ten minutes of the code are over, and 400 invalid_grant at that moment', async () => {
    const [good, late] = [await oauth.verified(partner), await oauth.verified(partner)];
    oauth.clock.advance(600_000 - 1);
    expect((await oauth.exchange(partner, good)).status).toBe(200);
    oauth.clock.advance(1);
    const before = await oauth.wallet(partner);
    expect(await oauth.exchange(partner, late)).toMatchObject(invalidGrant(/expired/));
    expect(await oauth.wallet(partner)).toEqual(before);
  });
});

describe('POST /api/oauth/token for a used code', () => {
  async function useCode() {
    const verified = await oauth.verified(partner);
    const { access_token: token = '' } = await oauth.exchange(partner, verified);
    return { verified, token, usedAt: new Date(oauth.clock.now()).toISOString() };
  }
  const statusOfToken = async (token: string) => (await oauth.userinfo(bearer(token))).status;

  it('names the time of the use and the charge, which svcadmin sessions show names too and operators can refund', async () => {
    const { admin, db } = oauth.server;
    const { verified, usedAt } = await useCode();
    const before = await oauth.wallet(partner);
    oauth.clock.advance(1_000);
    const refused = await oauth.exchange(partner, verified);
    const [, at, charge = ''] =
      /used at (\S+); charge (txn_\w{22})$/.exec(refused.error_description ?? '') ?? [];
    expect(refused).toMatchObject(invalidGrant(/^Authorization code already used at /));
    expect(at).toBe(usedAt);
    expect(await oauth.wallet(partner)).toEqual(before);

    const { charges } = await readLedger(db, `${partner.partnerId}:test`);
    const sessionId = charges.find(({ id }) => id === charge)?.grant?.sessionId ?? '';
    const session = await admin.sessions.show.query({ sessionId });
    expect(session.code).toMatchObject({ state: 'used', charge: { id: charge, at: usedAt } });

    const refund = { entryId: charge, reason: 'the answer was lost' };
    await admin.wallets.refund.mutate(refund);
    expect((await oauth.wallet(partner)).balance).toBe(before.balance + 50);
  });

  it('does not revoke the token within ten seconds, because two workers of a partner may have sent the same code', async () => {
    const { verified, token } = await useCode();
    oauth.clock.advance(10_000);
    expect((await oauth.exchange(partner, verified)).error).toBe('invalid_grant');
    expect(await statusOfToken(token)).toBe(200);
  });

  it('revokes the token if the code is used again after ten seconds (RFC 6749 4.1.2)', async () => {
    const { verified, token } = await useCode();
    oauth.clock.advance(10_001);
    expect(await statusOfToken(token)).toBe(200);
    expect((await oauth.exchange(partner, verified)).error).toBe('invalid_grant');
    expect(await statusOfToken(token)).toBe(401);
  });

  it('revokes nothing if another client sends the code', async () => {
    const { verified, token } = await useCode();
    oauth.clock.advance(60_000);
    await oauth.exchange(await oauth.partner(), verified);
    await oauth.exchange(partner, verified, { client_secret: 'svc_secret_wrong' });
    expect(await statusOfToken(token)).toBe(200);
  });

  it('says that the code was used, even after it has expired', async () => {
    const { verified } = await useCode();
    oauth.clock.advance(700_000);
    expect(await oauth.exchange(partner, verified)).toMatchObject(invalidGrant(/already used/));
  });
});

describe('POST /api/oauth/token with a wrong code_verifier', () => {
  const wrong = { code_verifier: 'w'.repeat(43) };

  it('answers 400 with the number of remaining tries four times; then the right verifier gets a token', async () => {
    const verified = await oauth.verified(partner);
    for (const left of [4, 3, 2, 1]) {
      expect(await oauth.exchange(partner, verified, wrong)).toMatchObject(
        invalidGrant(new RegExp(`; ${left} tr`)),
      );
    }
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });

  it('invalidates the code at the fifth try', async () => {
    const verified = await oauth.verified(partner);
    for (let n = 0; n < 5; n += 1) await oauth.exchange(partner, verified, wrong);
    const before = await oauth.wallet(partner);
    expect(await oauth.exchange(partner, verified)).toMatchObject(
      invalidGrant(/Too many wrong code_verifiers/),
    );
    expect(await oauth.wallet(partner)).toEqual(before);
  });

  it('does not count the try if another client sends it', async () => {
    const [verified, other] = [await oauth.verified(partner), await oauth.partner({ client: manyRequests })];
    for (let n = 0; n < 6; n += 1) await oauth.exchange(other, verified, wrong);
    expect((await oauth.exchange(partner, verified)).status).toBe(200);
  });
});

describe('POST /api/oauth/token', () => {
  it('answers 400 invalid_scope with the claims that the client has lost since the start, until they are restored', async () => {
    const { admin } = oauth.server;
    const { clientId } = partner;
    const verified = await oauth.verified(partner, 'adult', 'country unknown_claim age_18_plus');
    await admin.clients.update.mutate({ clientId, claims: ['age_18_plus', 'identity_verified'] });
    const refused = await oauth.exchange(partner, verified);
    await admin.clients.update.mutate({ clientId, claims: ['age_18_plus', 'identity_verified', 'country'] });

    expect(refused).toMatchObject({
      status: 400,
      error: 'invalid_scope',
      error_description: 'This client may no longer ask for country',
    });
    expect((await oauth.exchange(partner, verified)).scope).toBe('country age_18_plus');
  });
});
