import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainWaiting, listedStatus } from '../../cli/deliveries.ts';
import { formatValue, label } from '../../cli/output/format.ts';
import { renderTable } from '../../cli/output/table.ts';
import type { DeliveryView } from '../../contracts/admin/deliveries.ts';
import { waitReasons } from '../../contracts/wait-reasons.ts';

const id = 'ptr_4HpTRK4usWlxHuQvvMsCHR';
const columns = [{ heading: 'ID', whole: true }, { heading: 'Name' }, { heading: 'Status' }];

describe('deliveries that wait', () => {
  it('are listed as waiting with the reason, each of which is explained once', () => {
    const waits = { status: 'pending', waiting: 'endpoint_busy' } as DeliveryView;
    const scheduled = { status: 'pending', waiting: null } as DeliveryView;
    expect([waits, scheduled].map(listedStatus)).toEqual(['waiting: endpoint_busy', 'pending']);
    expect(explainWaiting([waits, waits, scheduled])).toEqual([
      `endpoint_busy: ${waitReasons.endpoint_busy}.`,
    ]);
  });
});

describe('renderTable', () => {
  it('fits the terminal and never cuts an identifier', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 26, max: 200 }),
        fc.array(fc.string({ maxLength: 60 })),
        (width, names) => {
          const rows = names.map((name) => [id, name.replace(/\s/g, '.'), 'active']);
          const lines = renderTable(columns, rows, width);
          const whole = width >= 26 + 2 + 8 + 2 + 8;
          if (whole) for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
          expect(lines.filter((line) => line.includes(id))).toHaveLength(rows.length);
        },
      ),
    );
  });

  it('cuts a time only where nothing else can be', () => {
    const timed = [{ heading: 'ID', whole: true }, { heading: 'Name' }, { heading: 'At', time: true }];
    const row = [id, 'A rather long name of a company', '2026-07-12 14:03:11'];
    expect(renderTable(timed, [row], 70)[1]).toBe(`${id}  A rather long name o…  2026-07-12 14:03:11`);
    expect(renderTable(timed, [row], 57)[1]).toBe(`${id}  A rathe…  2026-07-12 14:03:11`);
    expect(renderTable(timed, [row], 56)[1]).toMatch(/ 2026-07-12.*…$/);
  });

  it('is tab-separated without a width', () => {
    expect(renderTable(columns, [[id, 'Acme', 'active']])).toEqual([`${id}\tAcme\tactive`]);
  });

  it('turns rows into blocks where identifiers alone are too wide', () => {
    expect(renderTable(columns, [[id, 'Acme', 'active']], 30)).toEqual([
      `ID      ${id}`,
      'Name    Acme',
      'Status  active',
    ]);
  });
});

describe('formatValue', () => {
  it('shows money in dollars, nothing as a dash, and lets no control character through', () => {
    expect(formatValue('balance', -123_456_789)).toBe('-1,234,567.89');
    expect(formatValue('webhookUrl', null)).toBe('-');
    expect(formatValue('name', 'a\u001b[2Jb')).toBe('a\\x1b[2Jb');
    expect(formatValue('used', { minute: 2, hour: 7 })).toBe('minute 2, hour 7');
  });

  it('labels fields as people write them', () => {
    expect(['id', 'createdAt', 'webhookUrl', 'redirectUris', 'apiKey'].map(label)).toEqual([
      ...['ID', 'Created at', 'Webhook URL', 'Redirect URIs', 'API key'],
    ]);
  });
});
