import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { startReceiver } from '../harness/receiver.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { until } from '../webhooks/system.ts';
import { expectReadable } from './appearance.ts';
import { describeInBrowser, launchBrowser, newVisitor } from './chromium.ts';

let server: TestServer;
let browser: Browser;
let partner: TestPartner;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
const paths: Record<string, string> = {};

/** The height of the tallest table row. In a wide window, no row may become high by wrapped values. */
const tallestRow = `Math.max(0, ...[...document.querySelectorAll('thead + tbody tr')].map((row) => row.offsetHeight))`;

describeInBrowser('a page of /ops', () => {
  beforeAll(async () => {
    [server, browser] = await Promise.all([startTestServer(), launchBrowser()]);
    receiver = await startReceiver((_count, _request, response) => response.writeHead(500).end('broken'));
    partner = await createPartner(server);
    const { partnerId, keyId } = partner;
    await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
    await completeSession(server, partner);
    const { rows } = await server.admin.sessions.list.query({ partnerId });
    await until(() => receiver.received.length > 0);
    const [delivery] = await server.admin.deliveries.list.query({ keyId });
    const filter = { keyId, since: new Date(0).toISOString() };
    // Another URL, because events whose delivery to the webhook URL is pending are left out.
    const replay = { action: 'replay' as const, filter, to: 'http://localhost:9/again' };
    const { job } = await server.admin.bulk.start.mutate(replay);
    Object.assign(paths, {
      ops: '?still',
      partner: `/partner/${partnerId}`,
      endpoint: `/endpoint/${keyId}`,
      delivery: `/delivery/${delivery?.id ?? ''}`,
      session: `/session/${rows[0]?.id ?? ''}`,
      wallet: `/wallet/${partnerId}:test`,
      bulk: `/bulk/${job?.id ?? ''}`,
      work: '/work/all',
    });
  }, within(60_000));
  afterAll(async () => {
    await browser.close();
    await server.stop();
    receiver.close();
  });

  it.each(['ops', 'partner', 'endpoint', 'delivery', 'session', 'wallet', 'bulk', 'work'])(
    'is accessible on wide and narrow screens, light and dark, with table rows below 80 pixels, if it shows: %s',
    async (name) => {
      const extraHTTPHeaders = { authorization: `Bearer ${adminToken}` };
      const { page, complaints, close } = await newVisitor(browser, { extraHTTPHeaders });
      await page.goto(`${server.adminUrl}/ops${paths[name] ?? ''}`);
      await expectReadable(page, `ops-${name}`);
      expect(Number(await page.evaluate(tallestRow))).toBeLessThan(80);
      expect(complaints).toEqual([]);
      await close();
    },
    within(60_000),
  );
});
