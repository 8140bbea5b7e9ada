import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dollars } from '../../contracts/amounts.ts';
import { within } from '../harness/time-limits.ts';
import { openAccount } from './account.ts';
import { createBrowser } from './browser.ts';
import { findOrStartServer } from './local-server.ts';
import { startReceiver } from './receiver.ts';
import { createReport, expectThat } from './report.ts';
import { exchange, querySession, readUserinfo, revoke, walkHostedPages } from './steps.ts';

/**
 * Runs a whole integration, in the roles of partner, user and receiver: set-up by `svcadmin`, the hosted pages, the
 * exchange, the claims, revocation, the session query and the signed webhooks.
 */

const dataDir = process.env['SVC_DATA_DIR'] ?? '.svc';
/** The verification source of the client. `wallet` is short for the EUDI Wallet of the test identity wallet. */
const { values: options } = parseArgs({ options: { source: { type: 'string' } } });
const source = options.source === 'wallet' ? 'test-wallet-pid' : options.source;

async function journey(): Promise<void> {
  const { step, note } = createReport();

  const server = await step('server', async () => {
    const found = await findOrStartServer();
    note(`${found.baseUrl} ${found.wasRunning ? 'was running' : 'was started for this journey'}`);
    return found;
  });
  const { baseUrl, env } = server;
  const opened = openAccount({ file: join(dataDir, 'journey.json'), baseUrl, env });
  const { account, run, save } = opened;
  const receiver = await startReceiver(opened.receiverPort ?? 0);
  const readBalance = async () =>
    (await run<{ balance: number }>('wallets', 'show', account.partnerId, '--mode', 'test')).balance;

  try {
    await step('partner', async () => {
      const isPartnerKept = await opened.ensurePartner();
      const isKeyKept = await opened.ensureKey();
      const redirectUri = `http://localhost:${receiver.port}/callback`;
      const isClientKept = await opened.ensureClient(redirectUri);
      await run('clients', 'update', account.clientId, '--source', source ?? 'default');
      const describe = (isKept: boolean, id: string) => `${id} ${isKept ? '(kept)' : '(new)'}`;
      note(
        describe(isPartnerKept, account.partnerId),
        describe(isKeyKept, account.keyId),
        describe(isClientKept, account.clientId),
      );
    });

    await step('webhook', async () => {
      const url = `http://localhost:${receiver.port}/webhooks`;
      const { signingSecret } = await run<{ signingSecret: string }>(
        'webhooks',
        'set',
        account.keyId,
        '--url',
        url,
      );
      receiver.useSecret(signingSecret);
      save({ receiverPort: receiver.port });
      note(`${url}, a new signing secret (shown once)`);
    });

    const priceCents = (await run<{ token: number }>('prices', 'show', account.partnerId)).token;

    const balanceBefore = await step('wallet', async () => {
      const funding = ['--mode', 'test', '--amount', '50.00', '--reference'];
      await run('wallets', 'fund', account.partnerId, ...funding, 'journey');
      if ((await readBalance()) < priceCents) {
        await run('wallets', 'fund', account.partnerId, ...funding, `journey ${new Date().toISOString()}`);
      }
      const cents = await readBalance();
      note(`${dollars(cents)} before`);
      return cents;
    });

    const verified = await step('hosted pages', async () => {
      const walked = await walkHostedPages({ baseUrl, account, browser: createBrowser(baseUrl), source });
      note(
        `session ${walked.sessionId}`,
        'consent → authenticate → verify → redirect',
        `code ${walked.code.slice(0, 14)}…`,
      );
      return walked;
    });

    const token = await step('exchange', async () => {
      const answer = await exchange({ baseUrl, account, verified });
      note(`${answer.token_type} token, ${answer.expires_in} s`, `scope "${answer.scope}"`);
      return answer.access_token;
    });

    await step('userinfo', async () => {
      const info = await readUserinfo(baseUrl, token);
      expectThat(info.status === 200, `userinfo answers ${info.status}`);
      note(`sub ${info.body.sub}`, JSON.stringify(info.body.claims));
    });

    await step('revoke', async () => {
      await revoke({ baseUrl, account, token });
      const after = await readUserinfo(baseUrl, token);
      expectThat(after.status === 401, `a revoked token still reads userinfo: ${after.status}`);
      note('200, and userinfo answers 401 from now on');
    });

    await step('session query', async () => {
      const session = await querySession({ baseUrl, account, sessionId: verified.sessionId });
      expectThat(session.status === 'complete', `the session is ${session.status}`);
      note(`status ${session.status}`, `test mode ${session.isTestMode}`);
    });

    await step('webhooks', async () => {
      const events = await receiver.wait(2, within(10_000));
      for (const { event, verified, body } of events) {
        note(`${event} ${String(body['event_id'])}, signature ${verified ? 'verified' : 'WRONG'}`);
      }
      const names = events.map(({ event }) => event);
      expectThat(
        events.every(({ verified }) => verified),
        'a signature does not verify',
      );
      expectThat(
        names.includes('verification.session.completed'),
        'no verification.session.completed arrived',
      );
      expectThat(
        names.includes('enrollment.created') !== names.includes('vae.resolved'),
        'exactly one of enrollment.created (new user) and vae.resolved (returning user) must arrive',
      );
    });

    await step('wallet', async () => {
      const balanceAfter = await readBalance();
      note(`${dollars(balanceBefore)} before, ${dollars(balanceAfter)} after`);
      expectThat(
        balanceAfter === balanceBefore - priceCents,
        `debited ${dollars(balanceBefore - balanceAfter)}, not ${dollars(priceCents)}`,
      );
    });
  } finally {
    await receiver.close();
    await server.stop();
  }
}

await journey().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
