import { expect, vi } from 'vitest';
import { createAdminApi } from '../../../cli/connection/client.ts';
import { sha256 } from '../../../server/platform/ids.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { completeSession } from '../../harness/completed-session.ts';
import {
  createPartner,
  exchangeCode,
  redirectUri,
  type TestPartner,
  verifyUser,
} from '../../harness/partner.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { createBrowser } from '../../journey/browser.ts';
import { newStart, startUrl } from '../../journey/pkce.ts';
import { type CommandLine, commandLine, type Ended } from '../svcadmin.ts';

const minute = 60_000;
const waitFor = { timeout: within(20_000), interval: 200 };

/** A partner with records of every problem in docs/support.md, and the command line of a support operator. */
export interface Desk {
  server: TestServer;
  partner: TestPartner;
  /** The command line of an operator with the role support, who created the partner. */
  svcadmin: CommandLine;
  /** Runs a command in this process, because a separate process is slower. */
  run: (args: readonly string[]) => Promise<Ended>;
  api: TestServer['admin'];
  operatorId: string;
  sessions: { charged: string; rejected: string; expired: string };
  entry: string;
  enrollment: { active: string; blocked: string };
  sub: string;
  /** Request ids of refused requests, by error code. */
  refused: Record<'invalid_grant' | 'rate_limited' | 'payment_required' | 'access_denied', string>;
  /** A failed delivery and two waiting ones, each with its event. */
  deliveries: Record<'failed' | 'waiting' | 'other', { id: string; eventId: string }>;
  stop(): Promise<void>;
}

/** The session's newest delivery, after all its attempts except the last have failed. */
async function waitingDelivery({ db }: TestServer, sessionId: string) {
  return vi.waitFor(async () => {
    const event = await db.collection('events').findOne({ sessionId }, { sort: { createdAt: -1 } });
    const filter = { eventId: String(event?._id), status: 'pending' as const, attempt: 3 };
    const delivery = await db.collection<Delivery>('deliveries').findOne(filter);
    if (!delivery) throw new Error(`no delivery of ${sessionId} waits`);
    return { id: delivery._id, eventId: delivery.eventId };
  }, waitFor);
}

/** Starts a session, sets its expiry to a minute ago, and returns its id. */
async function expiredSession({ baseUrl, db }: TestServer, { clientId }: TestPartner): Promise<string> {
  const { codeChallenge, state } = newStart();
  const start = startUrl({ baseUrl, clientId, redirectUri, scope: 'age_18_plus', state, codeChallenge });
  const page = await createBrowser(baseUrl).open(start);
  const [id = ''] = /ses_\w{22}/.exec(page.url) ?? [];
  const expiresAt = new Date(Date.now() - minute);
  await db.collection<{ _id: string }>('sessions').updateOne({ _id: id }, { $set: { expiresAt } });
  return id;
}

export async function openDesk(): Promise<Desk> {
  const receiver = await startReceiver((_count, _request, response) =>
    response.writeHead(500).end('out of order'),
  );
  const server = await startTestServer({ env: { SVC_WEBHOOK_RETRY_DELAYS: '1s,6h' } });
  const { token, id: operatorId } = await server.admin.operators.create.mutate({
    name: 'Kim',
    role: 'support',
  });
  const partner = await createPartner(server, { funds: 5_000 });
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: receiver.url });
  const exchange = async (person: string, walk: 'stored' | 'pages' = 'stored') => {
    const verify = walk === 'pages' ? verifyUser : completeSession;
    const verified = await verify(server, partner, person);
    const answer = await exchangeCode(server, partner, verified);
    return { verified, answer, requestId: answer.headers.get('x-request-id') ?? '' };
  };
  const sessionOf = async (code: string): Promise<string> =>
    String((await server.db.collection('sessions').findOne({ 'code.hash': sha256(code) }))?._id);

  // By the hosted pages, so that the session has requests of them.
  const first = await exchange('adult', 'pages');
  expect(first.answer.status).toBe(200);
  const charged = await sessionOf(first.verified.code);
  const again = await exchangeCode(server, partner, first.verified);
  const second = await exchange('new-adult');
  const [capped, poor, denied] = [
    await exchange('minute-cap'),
    await exchange('low-balance'),
    await exchange('duplicate'),
  ];
  await verifyUser(server, partner, 'rejected');
  const rejected = await server.db.collection('sessions').findOne({ failure: { $exists: true } });
  const expired = await expiredSession(server, partner);

  const failed = await waitingDelivery(server, charged);
  await server.admin.deliveries.reschedule.mutate({ deliveryId: failed.id, inSeconds: 0 });
  await vi.waitFor(async () => {
    const { status } = await server.admin.deliveries.show.query({ deliveryId: failed.id });
    expect(status).toBe('failed');
  }, waitFor);
  const waiting = await waitingDelivery(server, await sessionOf(second.verified.code));
  const other = await waitingDelivery(server, await sessionOf(denied.verified.code));

  const session = await server.admin.sessions.show.query({ sessionId: charged });
  const { partnerId } = partner;
  const enrollments = await server.admin.enrollments.list.query({ partnerId });
  const blocked = enrollments.find(({ status }) => status === 'blocked')?.id ?? '';
  const refused = {
    invalid_grant: again.headers.get('x-request-id') ?? '',
    rate_limited: capped.requestId,
    payment_required: poor.requestId,
    access_denied: denied.requestId,
  };
  await vi.waitFor(() => server.admin.requests.show.query({ requestId: refused.access_denied }), waitFor);
  const svcadmin = await commandLine(server.adminUrl, token);
  return {
    server,
    partner,
    svcadmin,
    run: (args) => svcadmin.run([...args]),
    api: createAdminApi({ url: server.adminUrl, token }),
    operatorId,
    sessions: { charged, rejected: String(rejected?._id), expired },
    entry: session.code?.charge?.id ?? '',
    enrollment: { active: session.enrollmentId ?? '', blocked },
    sub: session.sub ?? '',
    refused,
    deliveries: { failed, waiting, other },
    async stop() {
      await server.stop();
      receiver.close();
    },
  };
}
