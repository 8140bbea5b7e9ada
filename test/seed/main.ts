import type { StatementView } from '../../contracts/admin/wallets.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';
import { findOrStartServer } from '../journey/local-server.ts';
import { newStart, startUrl, tokenForm } from '../journey/pkce.ts';
import { startReceiver } from '../journey/receiver.ts';
import { createReport } from '../journey/report.ts';
import { svcadmin } from '../journey/svcadmin.ts';

/**
 * Fills the running development server with data for `svcadmin` and `/ops`: partners in each status, sessions with each
 * ending, entries of each kind, and a failing endpoint. Each run adds new partners.
 */

const scope = 'age_18_plus identity_verified country';
const redirectUri = 'http://localhost:9999/callback';
/** A URL at which no server listens, because port 9 is reserved for the discard service. */
const closedEndpoint = 'http://localhost:9/webhooks';

interface Seeded {
  partnerId: string;
  clientId: string;
  clientSecret: string;
  redirectUri: string;
}

const { step, note } = createReport();
const server = await findOrStartServer();
const { baseUrl, env } = server;
const run = <Value>(...args: string[]) => svcadmin<Value>(args, env);

/** Creates an active partner, which keeps `funds`: decimal dollars in its test wallet, at least 50.00. */
async function createPartner(name: string, funds: string, webhookUrl?: string): Promise<Seeded> {
  const { partnerId, clientId, env } = await run<{
    partnerId: string;
    clientId: string;
    env: { SVC_CLIENT_SECRET: string };
  }>(
    ...['partners', 'onboard', name, '--redirect-uri', redirectUri, '--claims', scope, '--amount', funds],
    ...(webhookUrl === undefined ? [] : ['--webhook-url', webhookUrl]),
  );
  return { partnerId, clientId, clientSecret: env.SVC_CLIENT_SECRET, redirectUri };
}

function startOf({ clientId }: Seeded) {
  const { codeVerifier, codeChallenge, state } = newStart();
  return { codeVerifier, start: startUrl({ baseUrl, clientId, redirectUri, scope, state, codeChallenge }) };
}

/** Verifies a sandbox user, from the start to the partner's redirect, and exchanges the code if there is one. */
async function verify(partner: Seeded, person: string): Promise<void> {
  const { codeVerifier, start } = startOf(partner);
  const end = await passFlow(createBrowser(baseUrl), start, person);
  const code = end.searchParams.get('code');
  if (!code) return;
  const body = new URLSearchParams(tokenForm({ ...partner, code, codeVerifier }));
  await fetch(`${baseUrl}/api/oauth/token`, { method: 'POST', body });
}

/** Starts a session as a user who presses `buttons` and then closes the page. */
async function leaveAfter(partner: Seeded, ...buttons: string[]): Promise<void> {
  const browser = createBrowser(baseUrl);
  let page = await browser.open(startOf(partner).start);
  for (const button of buttons) page = await browser.press(page, button);
}

const receiver = await startReceiver(0);
try {
  const cinema = await step('active', async () => {
    const hooks = `http://localhost:${receiver.port}/webhooks`;
    const partner = await createPartner('Acme Cinema', '200.00', hooks);
    for (const person of ['adult', 'adult', 'new-adult', 'new-adult', 'teen', 'unknown-country'])
      await verify(partner, person);
    for (const person of ['rejected', 'duplicate', 'source-down', 'low-balance', 'minute-cap', 'unavailable'])
      await verify(partner, person);
    await leaveAfter(partner);
    await leaveAfter(partner, 'decision=decline');
    await leaveAfter(partner, 'decision=accept');
    await leaveAfter(partner, 'decision=accept', 'decision=cancel');
    await receiver.wait(10, 20_000);
    note(`${partner.partnerId}: sessions that end in each way, and webhooks that arrive`);
    return partner;
  });

  await step('failing', async () => {
    const partner = await createPartner('Bolt Games', '50.00', closedEndpoint);
    for (let n = 0; n < 10; n += 1) await verify(partner, 'new-adult');
    note(`${partner.partnerId}: webhooks fail, because no server listens at ${closedEndpoint}`);
  });

  await step('no money', async () => {
    const partner = await createPartner('Cedar Books', '50.00');
    const emptied = ['--mode', 'test', '--amount', '-50.00', '--reason', 'seed: an empty wallet'];
    await run('wallets', 'adjust', partner.partnerId, ...emptied);
    for (let n = 0; n < 3; n += 1) await verify(partner, 'adult');
    note(`${partner.partnerId}: exchanges are refused with 402`);
  });

  await step('suspended', async () => {
    const { partnerId } = await createPartner('Delta Spirits', '50.00');
    await run('partners', 'suspend', partnerId, '--yes');
    const { id } = await run<{ id: string }>('partners', 'create', 'Echo Tickets');
    note(`${partnerId} is suspended, and ${id} waits for its activation`);
  });

  await step('money', async () => {
    const wallet = [cinema.partnerId, '--mode', 'test'];
    await run('wallets', 'adjust', ...wallet, '--amount', '-5.00', '--reason', 'seed: a correction');
    const { entries } = await run<StatementView>('wallets', 'statement', ...wallet);
    const charge = entries.find(({ kind }) => kind === 'token');
    if (charge) await run('wallets', 'refund', charge.id, '--reason', 'seed: a lost answer');
    await run('limits', 'set', ...wallet, '--per-minute', '30', '--per-hour', '500');
    note('an adjustment, a refund and new spend caps');
  });

  process.stdout.write(
    '\nNow try: svcadmin partners list; svcadmin deliveries list; svcadmin sessions list; /ops\n',
  );
} finally {
  await receiver.close();
  await server.stop();
}
