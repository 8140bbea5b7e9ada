import { join } from 'node:path';
import { expect, it } from 'vitest';
import { within } from '../harness/time-limits.ts';
import { createServerProcess } from './server-process.ts';

it('the server prints the path of its database when it starts, and has no field twice in a JSON log line', async () => {
  const server = await createServerProcess({ SVC_LOG_LEVEL: 'info' });
  await server.start();
  // The greeting comes after the start of the demo partner, and so after /readyz has answered 200.
  await expect.poll(server.output, { timeout: within(20_000) }).toContain('SVC Gateway is up');
  await server.end('SIGTERM');
  const lines = server.output().split('\n');
  expect(lines.find((line) => line.includes('Database'))).toContain(`in ${join(server.dataDir, 'db')}:`);
  const records = lines.filter((line) => line.startsWith('{'));
  expect(records.length).toBeGreaterThan(0);
  // A repeated field would make the line shorter after parsing and serialising.
  for (const record of records) expect(JSON.stringify(JSON.parse(record))).toBe(record);
});
