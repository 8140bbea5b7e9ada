import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventNames } from '../../contracts/event-names.ts';
import { FailureReason } from '../../contracts/verification.ts';
import { type Harness, hour, minute, startHarness } from './harness.ts';
import { receive } from './hooks.ts';
import { rule } from './rule.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({ replacements: { sweepsByHand: true } });
});
afterAll(() => harness.stop());
beforeEach(() => harness.next());

const now = () => new Date(harness.clock.now()).toISOString();

async function subOf(partnerId: string): Promise<string> {
  const [enrollment] = await harness.admin.enrollments.list.query({ partnerId });
  return enrollment?.sub ?? '';
}

describe('the service', () => {
  const envelope = (event: string, partnerId: string) => ({
    event,
    event_id: expect.stringMatching(/^evt_[0-9A-Za-z]{22}$/),
    partner_id: partnerId,
  });

  rule(
    '6 verification.session.completed',
    'sends verification.session.completed with its documented fields when a user completes the flow',
    async () => {
      const partner = await harness.partner();
      const hooks = await receive(harness, partner);
      await harness.walkPages(partner, 'adult', 'age_18_plus shoe_size');
      const { body } = await hooks.event('verification.session.completed');
      expect(body).toEqual({
        ...envelope('verification.session.completed', partner.partnerId),
        session_id: expect.stringMatching(/^ses_/),
        user_id: await subOf(partner.partnerId),
        status: 'complete',
        scopes: ['age_18_plus', 'shoe_size'],
        completed_at: now(),
      });
    },
  );

  rule(
    '6 verification.session.failed',
    'sends verification.session.failed with the failure_reason of each of the four kinds of failure',
    async () => {
      const reasons: [button: string, reason: string][] = [
        ['decision=decline', 'consent_declined'],
        ['decision=cancel', 'abandoned'],
        ['person=rejected', 'document_rejected'],
        ['person=source-down', 'source_error'],
      ];
      expect(reasons.map(([, reason]) => reason).sort()).toEqual([...FailureReason.options].sort());
      for (const [button, reason] of reasons) {
        const partner = await harness.partner();
        const hooks = await receive(harness, partner);
        const { browser, first, sessionId } = await harness.open(partner);
        const isFirst = button === 'decision=decline';
        const page = isFirst ? first : await browser.press(first, 'decision=accept');
        await browser.press(page, button);
        expect((await hooks.event('verification.session.failed')).body).toEqual({
          ...envelope('verification.session.failed', partner.partnerId),
          session_id: sessionId,
          failure_reason: reason,
          failed_at: now(),
        });
      }
    },
  );

  rule(
    '6 enrollment.created',
    'sends enrollment.created when a user first authenticates, and not at a second verification',
    async () => {
      const partner = await harness.partner();
      const hooks = await receive(harness, partner);
      await harness.verifyUser(partner);
      await harness.verifyUser(partner);
      expect((await hooks.event('enrollment.created')).body).toEqual({
        ...envelope('enrollment.created', partner.partnerId),
        enrollment_id: await harness.enrollment(partner),
        user_id: await subOf(partner.partnerId),
        created_at: now(),
      });
      await expect.poll(() => hooks.of('verification.session.completed').length).toBe(2);
      await harness.server.sweep();
      expect(hooks.of('enrollment.created')).toHaveLength(1);
    },
  );

  rule(
    '6 vae.resolved',
    'sends vae.resolved with the claims after the exchange of a returning user, not after the first exchange',
    async () => {
      const partner = await harness.partner();
      const hooks = await receive(harness, partner);
      await harness.token(partner);
      await harness.server.sweep();
      expect(hooks.of('vae.resolved')).toEqual([]);
      await harness.token(partner, 'adult', 'country shoe_size');
      expect((await hooks.event('vae.resolved')).body).toEqual({
        ...envelope('vae.resolved', partner.partnerId),
        user_id: await subOf(partner.partnerId),
        claims: { country: 'DE' },
        resolved_at: now(),
      });
    },
  );

  it('stores events of all four types after two verifications with exchanges and one declined consent', async () => {
    const partner = await harness.partner();
    await harness.token(partner);
    await harness.token(partner);
    const { browser, first } = await harness.open(partner);
    await browser.press(first, 'decision=decline');
    await harness.server.sweep();
    const readTypes = async () => {
      const events = await harness.admin.events.list.query({ partnerId: partner.partnerId });
      return new Set(events.map(({ event }) => event));
    };
    await expect.poll(readTypes).toEqual(new Set(eventNames));
  });

  rule(
    '6 verification.session.expired',
    'sends no event for an expired session: the session query answers 404, the redirect has session_expired',
    async () => {
      const partner = await harness.partner();
      const hooks = await receive(harness, partner);
      const unanswered = await harness.open(partner);
      const agreed = await harness.open(partner);
      const people = await agreed.browser.press(agreed.first, 'decision=accept');
      await harness.pass(30 * minute);
      for (const { sessionId } of [unanswered, agreed])
        expect((await harness.session(sessionId, `Bearer ${partner.apiKey}`)).status).toBe(404);
      // The user returns to the session and sweeps run, but neither creates an event.
      const { url } = await agreed.browser.press(people, 'person=adult');
      expect(new URL(url).searchParams.get('error')).toBe('session_expired');
      for (const wait of [0, minute, 24 * hour]) {
        await harness.pass(wait);
        await harness.server.sweep();
      }
      expect(await harness.admin.events.list.query({ partnerId: partner.partnerId })).toEqual([]);
      // A later event has arrived, so no earlier one is still being sent.
      const event = 'vae.resolved';
      await harness.admin.webhooks.trigger.mutate({ keyId: partner.keyId, event });
      await hooks.event(event);
      expect(hooks.delivered.map(({ body }) => body['event'])).toEqual([event]);
      expect(eventNames).not.toContain('verification.session.expired');
    },
  );

  rule(
    '2.10 rule 4',
    'sends a sample of each event type to the webhook URL if an operator triggers it',
    async () => {
      const partner = await harness.partner();
      const hooks = await receive(harness, partner);
      // Operators can send a sample of each event, with the fields of section 6.
      for (const event of eventNames)
        await harness.admin.webhooks.trigger.mutate({ keyId: partner.keyId, event });
      for (const event of eventNames) await hooks.event(event);
    },
  );
});

describe('a webhook delivery', () => {
  rule(
    '6 rule 1',
    'does not delay the redirect or the charge, even if the receiver never answers',
    async () => {
      const partner = await harness.partner();
      await harness.verifyUser(partner);
      // No request waits for a receiver that never answers.
      const hooks = await receive(harness, partner, () => undefined);
      const before = await harness.balance(partner);
      const verified = await harness.walkPages(partner);
      expect(verified.end.searchParams.get('code')).toMatch(/^svc_code_/);
      expect((await harness.exchange(partner, verified)).status).toBe(200);
      expect(await harness.balance(partner)).toBe(before - 50);
      await hooks.event('vae.resolved');
      expect((await hooks.delivery('vae.resolved'))?.status).toBe('in_flight');
    },
  );

  rule('6 rule 2', 'does not prevent an exchange or its charge if the receiver answers 500', async () => {
    const partner = await harness.partner();
    await receive(harness, partner, (response) => response.writeHead(500).end());
    const before = await harness.balance(partner);
    await harness.token(partner);
    await harness.token(partner);
    expect(await harness.balance(partner)).toBe(before - 100);
  });

  rule(
    '6 rule 3',
    'fails after three attempts: one ended by a closed connection and two by an answer of 500',
    async () => {
      const partner = await harness.partner();
      const type = 'verification.session.completed';
      const hooks = await receive(harness, partner, (response, delivered) => {
        const attempts = delivered.filter(({ body }) => body['event'] === type).length;
        if (attempts === 1) response.destroy();
        // Without kept connections. One that ends before an answer may be an old one, so the attempt is made again on another.
        else response.writeHead(500, { connection: 'close' }).end();
      });
      await harness.verifyUser(partner);
      const errors = async () => (await hooks.delivery(type))?.attempts.map(({ error }) => error);
      await expect.poll(errors).toEqual(['reset']);
      await harness.pass(minute);
      await expect.poll(errors).toEqual(['reset', 'http']);
      await harness.pass(5 * minute);
      await expect.poll(errors).toEqual(['reset', 'http', 'http']);
      await expect.poll(async () => (await hooks.delivery(type))?.status).toBe('failed');
    },
  );

  rule('6 rule 4', 'is repeated by a resend with the same event_id and the same bytes', async () => {
    const partner = await harness.partner();
    const hooks = await receive(harness, partner);
    await harness.verifyUser(partner);
    const type = 'verification.session.completed';
    const first = await hooks.event(type);
    await expect.poll(async () => (await hooks.delivery(type))?.status).toBe('delivered');
    const { id } = (await hooks.delivery(type)) ?? { id: '' };
    await harness.admin.deliveries.resend.mutate({ deliveryIds: [id] });
    await expect.poll(() => hooks.of(type).length).toBe(2);
    const [, second] = hooks.of(type);
    expect(second?.body['event_id']).toBe(first.body['event_id']);
    expect(second?.raw.equals(first.raw)).toBe(true);
  });
});
