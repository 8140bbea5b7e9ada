import type { CommandStartedEvent } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { createPartner } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { startTestServer } from '../harness/server.ts';
import { draft } from '../webhooks/system.ts';

const collections = ['apiKeys', 'partners', 'events', 'deliveries', 'jobs'];

it('an event that is alone takes four commands, from its publication to its recorded attempt', async () => {
  const commands: string[] = [];
  const server = await startTestServer({
    // No poll for jobs falls into the test.
    replacements: { pace: { jobsEvery: 3_600_000 } },
    onCommand({ commandName, command }: CommandStartedEvent) {
      const collection = String(command[commandName]);
      if (collections.includes(collection)) commands.push(`${commandName} ${collection}`);
    },
  });
  onTestFinished(server.stop);
  const { url } = await createReceiver((_count, _request, response) => response.writeHead(204).end());
  const { keyId, partnerId } = await createPartner(server, { funds: 0 });
  await server.admin.webhooks.set.mutate({ keyId, url });
  const deliveries = server.db.collection('deliveries');
  const publish = async (expected: number) => {
    await server.services.webhooks.publish([{ ...draft(keyId), partnerId }]);
    await expect.poll(() => deliveries.countDocuments({ status: 'delivered' })).toBe(expected);
  };
  await publish(1);
  commands.length = 0;
  await publish(2);
  expect(commands).toEqual(['aggregate apiKeys', 'insert events', 'insert deliveries', 'update deliveries']);
});
