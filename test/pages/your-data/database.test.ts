import { afterAll, beforeAll, expect, it } from 'vitest';
import { distinctStatements, isKeyringRead, planFaults, type SentCommand } from '../../harness/statements.ts';
import { saved } from '../../people/passkeys/passkey-browser.ts';
import { startBehindProxy } from '../../platform/behind-proxy.ts';
import { type Hosted, onboard, startHosted } from '../hosted.ts';
import { root, signedIn } from './signed-in.ts';

const commands: SentCommand[] = [];
let hosted: Hosted;
beforeAll(async () => {
  hosted = await startHosted({
    env: { SVC_PASSKEYS: 'on' },
    onCommand: ({ commandName, command }) => void commands.push({ commandName, command }),
  });
});
afterAll(() => hosted.close());

it('every database statement of the user data pages uses an index', async () => {
  const partner = await onboard(hosted);
  const user = await saved(hosted, partner.clientId);
  const own = new Set<string>();
  commands.length = 0;
  const browser = await signedIn(hosted, user.authenticator);
  await browser.confirm(`/stop/${partner.partnerId}`);
  const [passkey] = (await hosted.admin.users.show.query({ user: user.userId })).passkeys;
  await browser.confirm(`/passkeys/${passkey?.id}`);
  await hosted.sweepFlow();
  const sent = commands.filter(
    ({ command }) => command['$db'] === hosted.db.databaseName && !isKeyringRead(command),
  );
  const faults: string[] = [];
  for (const [name, statement] of distinctStatements(sent)) {
    own.add(name);
    const found = await planFaults(hosted.db, statement);
    // A user has few records, so their sort needs no index.
    faults.push(...found.filter((fault) => fault !== 'SORT').map((fault) => `${fault}: ${name}`));
  }
  expect([...own].join()).toContain('find passkeys {"find":"string","filter":{"userId"');
  expect(faults).toEqual([]);
});

it('the user data page answers a signed-in user with 503 and a link to itself while the database is away', async () => {
  const { proxy, server, stop } = await startBehindProxy({ SVC_PASSKEYS: 'on' });
  try {
    const get = (cookie: string) =>
      fetch(`${server.baseUrl}${root}`, { headers: { accept: 'text/html', cookie } });
    expect((await get('')).status).toBe(200);
    await proxy.cut();
    const answer = await get(`svc_you=pky_${'0'.repeat(22)}.${'0'.repeat(43)}`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    const body = await answer.text();
    expect(body).toContain('We cannot continue right now');
    expect(body).toContain(`href="${root}"`);
    expect(body).not.toContain('shared');
    expect((await get('')).status).toBe(200);
  } finally {
    await stop();
  }
});
