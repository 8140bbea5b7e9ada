import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { adminToken, startTestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';

const seed = fileURLToPath(new URL('../../dist/test/seed/main.js', import.meta.url));

it(
  'npm run seed creates partners in each status, sessions with each reason, and failed and delivered webhooks',
  async () => {
    const server = await startTestServer({ env: { SVC_LOCALHOST_WEBHOOKS: 'on' } });
    onTestFinished(() => server.stop());
    const env = { ...process.env, SVCADMIN_URL: server.adminUrl, SVCADMIN_TOKEN: adminToken };
    await promisify(execFile)(process.execPath, [seed], { env });

    const { admin } = server;
    const statuses = (await admin.partners.list.query({ limit: 50 })).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set(['active', 'pending', 'suspended']));
    const { rows: sessions } = await admin.sessions.list.query({ limit: 100 });
    expect(new Set(sessions.map(({ reason }) => reason))).toEqual(
      new Set([null, 'abandoned', 'consent_declined', 'document_rejected', 'source_error']),
    );
    const deliveries = await admin.deliveries.list.query({ limit: 100 });
    const ends = new Set(deliveries.map(({ attempts }) => attempts[0]?.error ?? attempts[0]?.status));
    expect([...ends]).toEqual(expect.arrayContaining(['refused', 204]));
  },
  within(120_000),
);
