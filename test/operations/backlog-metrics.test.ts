import { expect, it } from 'vitest';
import { createBacklogMetrics } from '../../server/operations/metrics/backlog-metrics.ts';

it('late deliveries count as without a worker only while no process has that role', async () => {
  const at = new Date(0);
  const backlog = {
    at,
    deliveries: { byStatus: {}, late: 3 },
    jobs: { waiting: 0, late: 0, failed: 0 },
    pages: { unpublished: 0 },
    audit: { faulty: 0, wallets: [] },
  };
  const { render } = createBacklogMetrics(() => []);
  const figureFor = async (...roles: string[]) => {
    const text = await render({ ...backlog, missingRoles: roles.map((role) => ({ role })) }, at.getTime());
    return /^svc_deliveries_without_worker (\d+)$/m.exec(text)?.[1];
  };
  expect([await figureFor('worker', 'admin'), await figureFor('admin'), await figureFor()]).toEqual([
    '3',
    '0',
    '0',
  ]);
});
