import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, setGlobalDispatcher } from 'undici';
import { createPartner, exchangeCode, verifyUser } from '../../harness/partner.ts';
import type { TestServer } from '../../harness/server.ts';

// A connection for each request: one that is kept may be closed at the moment that it is used again, and that is no fault of the
// server. Load balancers repeat such a request.
setGlobalDispatcher(new Agent({ pipelining: 0 }));

/** The number of concurrent users. */
const users = 3;

/** A receiver that counts events by their id. */
export async function startCounter() {
  const events = new Map<string, string>();
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      const [id, event] = [request.headers['x-svc-event-id'], request.headers['x-svc-event']].map(String);
      events.set(id ?? '', event ?? '');
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/hooks`,
    /** Different events of a type. */
    count: (type: string) => [...events.values()].filter((each) => each === type).length,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A partner whose users verify one after another, each with an exchange and a userinfo request. */
export async function startLoad(server: Pick<TestServer, 'admin' | 'baseUrl'>, receiver: string) {
  const { admin, baseUrl } = server;
  const partner = await createPartner(server, {
    funds: 10_000_000,
    client: { tokenRequestsPerMinute: 1_000_000 },
  });
  const { partnerId, keyId } = partner;
  await admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 1_000_000, perHour: 1_000_000 });
  await admin.webhooks.set.mutate({ keyId, url: receiver });
  const problems: string[] = [];
  let verifications = 0;
  let exchanges = 0;
  let running = true;

  async function oneUser(): Promise<void> {
    verifications += 1;
    const answer = await exchangeCode({ baseUrl }, partner, await verifyUser(server, partner));
    if (answer.status !== 200) throw new Error(`exchange: ${answer.status} ${await answer.text()}`);
    exchanges += 1;
    // A client may send 120 userinfo requests a minute.
    if (exchanges % 8 > 0) return;
    const { access_token: token } = (await answer.json()) as { access_token: string };
    const claims = await fetch(`${baseUrl}/api/oauth/userinfo`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if (claims.status !== 200) throw new Error(`userinfo: ${claims.status}`);
    await claims.arrayBuffer();
  }
  const loops = Array.from({ length: users }, async () => {
    while (running) await oneUser().catch((error: unknown) => problems.push(String(error)));
  });
  return {
    partnerId,
    verifications: () => verifications,
    exchanges: () => exchanges,
    problems,
    async stop(): Promise<void> {
      running = false;
      await Promise.all(loops);
    },
  };
}
