import { redirectUri, tokenRequest, userinfoRequest } from '../contenders/contender.ts';
import { answerCalls } from '../remote.ts';
import { percentile } from '../statistics.ts';
import { passFlow } from './browser.ts';
import type { FlowOrder, FlowResult } from './client.ts';
import { type Connection, connectTo, type Sent } from './connection.ts';

/** A program: users and their partners with one connection each. The next flow starts when the last has ended. */
async function run({ origin, flows, callers, tokenPath, userinfoPath }: FlowOrder): Promise<FlowResult> {
  const connections = Array.from({ length: callers }, () => connectTo(origin));
  // Opens connections before the measurement, with a request for an unknown path.
  await Promise.all(connections.map((each) => each.send({ method: 'GET', path: '/bench', headers: [] })));
  const latencies: number[] = [];
  let requests = 0;
  let next = 0;

  async function ask(connection: Connection, sent: Sent): Promise<string> {
    const { status, body } = await connection.send(sent);
    if (status !== 200) throw new Error(`${sent.path} answers ${status} ${body}`);
    requests += 1;
    return body;
  }

  async function work(connection: Connection): Promise<void> {
    for (let flow = flows[next++]; flow; flow = flows[next++]) {
      const sentAt = performance.now();
      const passed = await passFlow(connection, { origin, ...flow }, redirectUri);
      requests += passed.requests;
      if (flow.exchangedBy) {
        const { body = '' } = tokenRequest(flow.exchangedBy, passed.code);
        const headers = ['content-type', 'application/x-www-form-urlencoded'];
        const answer = await ask(connection, { method: 'POST', path: tokenPath, headers, body });
        const { access_token: token } = JSON.parse(answer) as { access_token: string };
        const { authorization = '' } = userinfoRequest(token);
        await ask(connection, {
          method: 'GET',
          path: userinfoPath,
          headers: ['authorization', authorization],
        });
      }
      latencies.push(performance.now() - sentAt);
    }
  }

  const cpuBefore = process.cpuUsage();
  const startedAt = Date.now();
  const since = performance.now();
  await Promise.all(connections.map(work));
  const seconds = (performance.now() - since) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  await Promise.all(connections.map((each) => each.close()));
  const sorted = Float64Array.from(latencies).sort();
  return {
    startedAt,
    seconds,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    requests,
    cpuSeconds: (user + system) / 1e6,
  };
}

answerCalls({ run });
