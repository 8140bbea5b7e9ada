import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDatabaseClock, type DatabaseClock } from '../../server/platform/clock.ts';

/** A machine whose clock differs from the database's by `off` milliseconds. The database answers after `delay`. */
function machine({ off = 0, delay = 0 } = {}) {
  const state = { server: 1_800_000_000_000, uptime: 0, off, away: false };
  const pass = (ms: number): void => {
    state.server += ms;
    state.uptime += ms;
  };
  const clock: DatabaseClock = createDatabaseClock({
    async readServerTime() {
      if (state.away) throw new Error('away');
      pass(delay / 2);
      const read = state.server;
      pass(delay / 2);
      return read;
    },
    localTime: () => state.server + state.off,
    uptime: () => state.uptime,
  });
  return { state, pass, clock };
}

describe('the database clock of a process', () => {
  it.each([
    ['as late as the database', 0],
    ['1.5 s ahead of the database', 1_500],
    ['1.5 s behind the database', -1_500],
    ['a day ahead of the database', 86_400_000],
  ])("returns the database's time although the machine's own clock is %s", async (_, off) => {
    const { state, pass, clock } = machine({ off });
    await clock.measure();
    pass(12_345);
    expect(clock.now()).toBe(state.server);
    expect(clock.offset()).toBe(off === 0 ? 0 : -off);
  });

  it('adds half of the round-trip time to the time that the database returned', async () => {
    const { state, clock } = machine({ off: 300, delay: 800 });
    await clock.measure();
    expect(clock.now()).toBe(state.server);
  });

  it('is not trusted before its first measurement', () => {
    expect(machine().clock.trusted()).toBe(false);
  });

  it.each([
    ['trusted', '2,000 ms ahead', 2_000],
    ['trusted', '2,000 ms behind', -2_000],
    ['not trusted', '2,001 ms ahead', 2_001],
    ['not trusted', '2,001 ms behind', -2_001],
  ])("is %s if the machine's own clock is %s", async (trusted, _, off) => {
    const { clock } = machine({ off });
    await clock.measure();
    expect(clock.trusted()).toBe(trusted === 'trusted');
  });

  it('is not trusted more than two minutes after its last measurement, until the next one succeeds', async () => {
    const { state, pass, clock } = machine();
    await clock.measure();
    pass(120_000);
    expect(clock.trusted()).toBe(true);
    pass(1);
    expect(clock.trusted()).toBe(false);
    state.away = true;
    await expect(clock.measure()).rejects.toThrow('away');
    expect(clock.trusted()).toBe(false);
    state.away = false;
    await clock.measure();
    expect(clock.trusted()).toBe(true);
  });

  it('returns the database time by its last offset while the database is unreachable', async () => {
    const { state, pass, clock } = machine({ off: 700 });
    await clock.measure();
    state.away = true;
    await clock.measure().catch(() => undefined);
    pass(5_000);
    expect(clock.now()).toBe(state.server);
  });

  it.each([
    ['a minute forwards', 60_000],
    ['a minute backwards', -60_000],
    ['31 days forwards', 31 * 86_400_000],
  ])(
    "still returns the database's time, but is not trusted, after the machine's own clock was moved %s",
    async (_, step) => {
      const { state, pass, clock } = machine({ off: 300 });
      await clock.measure();
      pass(10_000);
      state.off += step;
      expect([clock.now(), clock.trusted()]).toEqual([state.server, false]);
      await clock.measure();
      expect([clock.now(), clock.trusted()]).toEqual([state.server, false]);
      state.off = 0;
      await clock.measure();
      expect([clock.now(), clock.trusted()]).toEqual([state.server, true]);
    },
  );

  it('is not trusted after the machine has slept, until the next measurement', async () => {
    const { state, clock } = machine();
    await clock.measure();
    state.server += 3_600_000; // the uptime did not advance during the sleep
    expect(clock.trusted()).toBe(false);
    await clock.measure();
    expect([clock.now(), clock.trusted()]).toEqual([state.server, true]);
  });
});

describe('the automatic measurement of the database clock', () => {
  it("happens within a second after the machine's clock was moved", async () => {
    let [measured, off] = [0, 0];
    const clock = createDatabaseClock({
      readServerTime: async () => {
        measured += 1;
        return Date.now();
      },
      localTime: () => Date.now() + off,
    });
    await clock.measure();
    clock.start();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(measured).toBe(1);
    off = 600_000;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([measured, clock.now(), clock.trusted()]).toEqual([2, Date.now(), false]);
    off = 0;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([measured, clock.trusted()]).toEqual([3, true]);
    clock.stop();
  });

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('happens every 30 s until it is stopped, even after failed measurements', async () => {
    let measured = 0;
    const clock = createDatabaseClock({
      readServerTime: async () => {
        measured += 1;
        if (measured === 2) throw new Error('away');
        return Date.now();
      },
    });
    clock.start();
    await vi.advanceTimersByTimeAsync(90_000);
    expect(measured).toBe(3);
    clock.stop();
    await vi.advanceTimersByTimeAsync(90_000);
    expect(measured).toBe(3);
  });
});
