import { describe, expect, it } from 'vitest';
import { keysOf } from '../../server/billing/hand-over/messages.ts';
import { seal } from '../../server/platform/keys/authenticated-json.ts';
import { type Member, orderOf, startFleet } from './fleet.ts';

const token = ({ billing }: Member, cause: string) => billing.charges.charge(orderOf(cause), ({ id }) => id);

async function pair() {
  const fleet = await startFleet(2);
  const { writer, others } = await fleet.roles();
  writer.messages.length = 0;
  const charges = async () => (await fleet.ledger()).charges.length - 2;
  return { fleet, writer, other: others[0] as Member, charges };
}

const post = async ({ peer }: Member, body: string | Buffer, path = '/messages') => {
  const response = await fetch(`http://${peer.address}${path}`, { method: 'POST', body });
  return { status: response.status, text: await response.text() };
};

describe('a private listener for hand-overs', () => {
  it('answers 401 to a message that is not encrypted with the key of the installation', async () => {
    const { writer, other, charges } = await pair();
    const request = {
      version: 1,
      from: other.peer.id,
      to: writer.peer.id,
      n: 1_000,
      at: Date.now(),
      postings: [],
    };
    const text = JSON.stringify(request);
    const foreign = seal(keysOf(Buffer.alloc(32, 8)).request, request as never);
    const reply = seal(keysOf(Buffer.alloc(32, 7)).reply, request as never);
    const bodies = [
      '',
      '{',
      text,
      `${'A'.repeat(43)}${text}`,
      foreign,
      reply,
      'null',
      '\u0000',
      Buffer.alloc(100),
    ];
    for (const body of bodies) expect((await post(writer, body)).status).toBe(401);
    expect((await post(writer, seal(keysOf(Buffer.alloc(32, 7)).request, request as never))).status).toBe(
      200,
    );
    expect(await charges()).toBe(0);
  });

  it('answers 401 to a message that is repeated, changed, out of order or meant for another process', async () => {
    const { writer, other, charges } = await pair();
    await token(other, 'first');
    const [first = ''] = writer.messages;
    expect((await post(writer, first)).status).toBe(401);
    await token(other, 'second');
    expect((await post(writer, first)).status).toBe(401);
    expect((await post(writer, first.replace('"n":', '"n":9'))).status).toBe(401);
    expect((await post(other, first)).status).toBe(401);
    expect(await charges()).toBe(2);
  });

  it('ignores a message older than 5 s, for instance from a paused process; the sender writes the charge itself', async () => {
    const { writer, other, charges } = await pair();
    writer.clock.ahead = 6_000;
    expect((await token(other, 'code')).outcome).toBe('charged');
    expect(other.ways).toMatchObject({ lost: 1 });
    expect(await charges()).toBe(1);
  });

  it('ignores every hand-over while its clock is not trusted; the sender writes the charge itself', async () => {
    const { writer, other, charges } = await pair();
    writer.clock.distrust();
    expect((await token(other, 'code')).outcome).toBe('charged');
    expect(other.ways).toMatchObject({ lost: 1 });
    expect(await charges()).toBe(1);
  });

  it('answers 404 to an unknown path, 405 to a wrong method, and accepts no body over 4 MiB', async () => {
    const { writer } = await pair();
    const large = await post(writer, Buffer.alloc(4 * 1_024 * 1_024 + 1, 65)).catch(() => undefined);
    expect([undefined, 400]).toContain(large?.status);
    expect(await post(writer, '', '/other')).toMatchObject({
      status: 404,
      text: expect.stringContaining('success'),
    });
    expect((await fetch(`http://${writer.peer.address}/messages`)).status).toBe(405);
  });

  it('cannot confuse a sender by the reply to another request: the sender ignores it and finds its own charge', async () => {
    const { writer, other, charges } = await pair();
    let first = '';
    writer.faults.after = (answer) => {
      first ||= answer;
      return first;
    };
    const [one, two] = [await token(other, 'one'), await token(other, 'two')];
    expect([one.outcome, two.outcome, await charges()]).toEqual(['charged', 'charged', 2]);
    expect(one).not.toEqual(two);
    expect(other.ways).toMatchObject({ lost: 1 });
  });

  it('cannot be replaced by another program: the sender ignores the unencrypted reply and writes the charge itself', async () => {
    const { writer, other, charges } = await pair();
    const { billing, peer } = other;
    const { createServer } = await import('node:http');
    const impostor = createServer((_request, response) => response.end('{"answers":[]}'));
    await writer.stop();
    await new Promise<void>((resolve) => {
      impostor.listen(Number(new URL(`http://${writer.peer.address}`).port), '127.0.0.1', resolve);
    });
    const charged = await billing.charges.charge(orderOf(`at ${peer.id}`), ({ id }) => id);
    impostor.closeAllConnections();
    impostor.close();
    expect([charged.outcome, other.ways['lost'], await charges()]).toEqual(['charged', 1, 1]);
  });
});

describe('the list of processes that take hand-overs', () => {
  it('contains a process from its first heartbeat until it resigns', async () => {
    const fleet = await startFleet(2);
    const third = await fleet.start();
    await fleet.refresh();
    expect(fleet.members.map(({ ways }) => ways['answering'])).toEqual([1, 1, 2]);
    await third.join();
    await expect
      .poll(async () => {
        await fleet.refresh();
        return fleet.members.map(({ ways }) => ways['answering']);
      })
      .toEqual([2, 2, 2]);
    await third.resign();
    await fleet.refresh();
    expect(fleet.members.map(({ ways }) => ways['answering'])).toEqual([1, 1, 2]);
  });

  it('does not contain a process whose last heartbeat is older than 10 s', async () => {
    const { fleet, writer, other } = await pair();
    other.clock.ahead = 10_001;
    await fleet.refresh();
    expect(other.ways['answering']).toBe(0);
    expect(writer.ways['answering']).toBe(1);
  });

  it('counts a stopped process as silent, and only the running one as answering', async () => {
    const fleet = await startFleet(2);
    const third = await fleet.start();
    await third.stop();
    await third.join();
    await fleet.refresh();
    expect(fleet.members[0]?.ways).toMatchObject({ answering: 1, silent: 1 });
  });

  it('may contain processes with IPv6 addresses, and hand-overs reach them', async () => {
    const fleet = await startFleet(2, { host: '::1' });
    await fleet.roles();
    expect(fleet.members.map(({ ways }) => ways['answered'])).toContain(1);
  });
});
