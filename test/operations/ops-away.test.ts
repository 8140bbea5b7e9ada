import { expect, it } from 'vitest';
import { renderRecordPage } from '../../server/console/ops/ops-frame.ts';
import { renderOpsPage } from '../../server/console/ops/ops-page.ts';

const away = { reason: 'db1:27017: connection refused', since: new Date('2026-07-01T12:00:00Z') };
const never = 'This process has not shown its figures since it started.';

it.each([
  ['/ops', renderOpsPage(undefined, { away })],
  ['a page of a record', renderRecordPage('/work/all', undefined, away)],
])('%s names the reason and the start of an outage of the database', (_page, html) => {
  expect(html).toContain('The database is away since 2026-07-01 12:00:00 UTC');
  expect(html).toContain(`${away.reason}. ${never}`);
  expect(html).not.toContain('undefined');
});
