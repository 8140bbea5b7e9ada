import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { explainWaits, listedStatus } from '../../../cli/deliveries/views.ts';
import { parseTime } from '../../../cli/flags/durations.ts';
import { formatValue, label, localTime, localTimes } from '../../../cli/output/format.ts';
import { renderListing } from '../../../cli/output/listing.ts';
import { renderTable } from '../../../cli/output/table.ts';
import { createWaiting, waitingOn } from '../../../cli/output/waiting.ts';
import type { DeliveryView } from '../../../contracts/admin/deliveries.ts';
import { waitReasons } from '../../../contracts/delivery-reasons.ts';

const id = 'ptr_4HpTRK4usWlxHuQvvMsCHR';
const columns = [{ heading: 'ID', isWhole: true }, { heading: 'Name' }, { heading: 'Status' }];

describe('deliveries that wait', () => {
  it('are listed with the reason why they wait, and each reason is explained once', () => {
    const waits = { status: 'pending', waiting: 'endpoint_busy' } as DeliveryView;
    const scheduled = { status: 'pending', waiting: null } as DeliveryView;
    expect([waits, scheduled].map(listedStatus)).toEqual(['waiting: endpoint_busy', 'pending']);
    expect(explainWaits([waits, waits, scheduled])).toEqual([`endpoint_busy: ${waitReasons.endpoint_busy}.`]);
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
          const whole = width >= 26 + 2 + 14 + 2 + 6;
          if (whole) for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
          expect(lines.filter((line) => line.includes(id))).toHaveLength(rows.length);
        },
      ),
    );
  });

  it.each([
    ['漢字の店', 8],
    ['👍 Shop', 7],
    ['🇩🇪', 2],
    ['Cafe\u0301', 4],
    ['नमस्ते', 4],
  ])('aligns the column behind %s, which takes %i columns of the terminal', (name, taken) => {
    const lines = renderTable(
      columns,
      [
        [id, name, 'active'],
        [id, 'Wine & Cheese', 'active'],
      ],
      100,
    );
    expect(lines[1]).toBe(`${id}  ${name}${' '.repeat('Wine & Cheese'.length - taken)}  active`);
    expect(lines[2]).toBe(`${id}  Wine & Cheese  active`);
  });

  it('cuts a wide name between its characters, to the columns of the terminal', () => {
    const row = (name: string) => renderTable(columns, [[id, name, 'active']], 26 + 2 + 14 + 2 + 6)[1];
    expect(row('漢字'.repeat(9))).toBe(`${id}  漢字漢字漢字…   active`);
    expect(row('e\u0301'.repeat(30))).toBe(`${id}  ${'e\u0301'.repeat(13)}…  active`);
    expect(row('👍'.repeat(30))).toBe(`${id}  ${'👍'.repeat(6)}…   active`);
  });

  it('shortens dotted names from the front, at the beginning of a word', () => {
    const named = [
      { heading: 'ID', isWhole: true },
      { heading: 'Event', hasDottedNames: true },
    ];
    const lines = (width: number) =>
      renderTable(
        named,
        [
          [id, 'verification.session.failed'],
          [id, 'vae.resolved'],
        ],
        width,
      ).map((line) => line.slice(28));
    expect(lines(28 + 27)).toEqual(['Event', 'verification.session.failed', 'vae.resolved']);
    expect(lines(28 + 26)).toEqual(['Event', '…session.failed', 'vae.resolved']);
    expect(lines(28 + 14)).toEqual(['Event', '…failed', 'vae.resolved']);
  });

  it('prints headings and tab-separated rows if no width is given', () => {
    const lines = ['ID\tName\tStatus', `${id}\tAcme\tactive`];
    expect(renderTable(columns, [[id, 'Acme', 'active']])).toEqual(lines);
  });

  it('prints one line for each field if the table would not fit', () => {
    expect(renderTable(columns, [[id, 'Acme', 'active']], 30)).toEqual([
      `ID      ${id}`,
      'Name    Acme',
      'Status  active',
    ]);
  });
});

describe('renderListing', () => {
  const events = [
    {
      id: 'evt_4HpTRK4usWlxHuQvvMsCHR',
      event: 'verification.session.failed',
      status: 'delivered',
      mode: 'test',
      keyId: 'key_4HpTRK4usWlxHuQvvMsCHR',
      createdAt: '2026-07-12T12:03:11Z',
    },
  ];
  const list = (width: number | undefined) =>
    renderListing(events, {
      columns: ['id', 'event', 'status', 'mode', 'keyId', 'createdAt'],
      dropIfNarrow: ['keyId', 'mode'],
      width,
    });

  it('omits the least important columns on a narrow terminal, and names them', () => {
    expect(list(160).leftOut).toEqual([]);
    expect(list(100).leftOut).toEqual(['Key ID']);
    expect(list(80).leftOut).toEqual(['Mode', 'Key ID']);
    expect(list(60).leftOut).toEqual(['Key ID', 'Created at']);
  });

  it.each([60, 80, 100, 160])('fits a terminal of %i characters', (width) => {
    for (const line of list(width).lines) expect(line.length).toBeLessThanOrEqual(width);
  });

  it('restores an omitted column if a later omission made enough space', () => {
    const rows = [{ a: 'x'.repeat(14), b: 'yyy', c: '1'.repeat(30), d: 'zzz', e: 'zzz' }];
    const shape = { columns: ['a', 'b', 'c', 'd', 'e'], dropIfNarrow: ['b', 'c'], width: 40 } as const;
    const { leftOut } = renderListing(rows, shape);
    expect(leftOut).toEqual(['C']);
  });

  it('prints every column if no width is given', () => {
    expect(list(undefined).lines[0]?.split('\t')).toHaveLength(6);
  });
});

describe('a time in output', () => {
  it('is printed in local time with its offset, and flags accept that form', () => {
    vi.stubEnv('TZ', 'Asia/Kolkata');
    onTestFinished(() => void vi.unstubAllEnvs());
    const shown = '2026-07-12 17:33:11+05:30';
    expect(localTime('2026-07-12T12:03:11.900Z')).toBe(shown);
    expect(formatValue('createdAt', '2026-07-12T12:03:11Z')).toBe(shown);
    expect(localTimes('It is due at 2026-07-12T12:03:11.9Z, in 3 s.')).toBe(`It is due at ${shown}, in 3 s.`);
    expect(parseTime(shown, Date.now())).toBe('2026-07-12T12:03:11.000Z');
    // What a person has typed stays as it was typed.
    expect(localTimes('2026-11-30T12:00:61Z is no time')).toBe('2026-11-30T12:00:61Z is no time');
    vi.stubEnv('TZ', 'America/St_Johns');
    expect(localTime('2026-07-12T12:03:11Z')).toBe('2026-07-12 09:33:11-02:30');
  });

  it('stays as it was sent or typed in the body of an event, a reference and a URI', () => {
    const body = '{"completed_at":"2026-07-12T12:03:11.482Z"}';
    const sent = ['body', 'reference', 'clientReferenceId', 'redirectUri', 'webhookUrl'];
    for (const name of sent) expect(formatValue(name, body), name).toBe(body);
    expect(formatValue('description', 'used at 2026-07-12T12:03:11Z')).not.toContain('T12:03:11Z');
    expect(formatValue('body', 'a\u001b[2Jb')).toBe('a\\x1b[2Jb');
  });
});

describe('the progress line', () => {
  it('appears after a second, counts the seconds, and disappears when the last call ends', async () => {
    const written: string[] = [];
    let tick: () => void = () => undefined;
    let running = 0;
    const showWaiting = createWaiting({
      write: (text) => written.push(text),
      everySecond(next) {
        tick = next;
        running += 1;
        return () => {
          running -= 1;
        };
      },
    });
    await showWaiting(Promise.resolve());
    expect([written, running]).toEqual([[], 0]);
    const ends: (() => void)[] = [];
    const works = [1, 2].map(() => showWaiting(new Promise<void>((resolve) => ends.push(resolve))));
    tick();
    tick();
    expect(written).toEqual([1, 2].map((n) => `\r\u001b[KWaiting for the server … ${n} s`));
    ends[0]?.();
    await works[0];
    expect(running).toBe(1);
    ends[1]?.();
    await works[1];
    expect([written.at(-1), running]).toEqual(['\r\u001b[K', 0]);
  });

  it('is not printed if the stream is not a terminal', () => {
    const work = Promise.resolve();
    expect(waitingOn({ isTTY: false } as NodeJS.WriteStream)(work)).toBe(work);
  });
});

describe('the output of a field', () => {
  it('has money in dollars, a missing value as a dash, and control characters escaped', () => {
    expect(formatValue('balance', -123_456_789)).toBe('-1,234,567.89');
    expect(formatValue('webhookUrl', null)).toBe('-');
    expect(formatValue('name', 'a\u001b[2Jb')).toBe('a\\x1b[2Jb');
    expect(formatValue('used', { minute: 2, hour: 7 })).toBe('minute 2, hour 7');
    const secrets = [{ last4: 'aB3d', lastUsedAt: null }, { last4: 'xY9z' }];
    expect(formatValue('secrets', secrets)).toBe('last4 aB3d, last used at -; last4 xY9z');
    expect(formatValue('claims', ['age_18_plus', 'country'])).toBe('age_18_plus country');
  });

  it('has a label in words for the name of each field: createdAt becomes "Created at"', () => {
    expect(['id', 'createdAt', 'webhookUrl', 'redirectUris', 'apiKey'].map(label)).toEqual([
      ...['ID', 'Created at', 'Webhook URL', 'Redirect URIs', 'API key'],
    ]);
  });
});
