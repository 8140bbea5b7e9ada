/** Milliseconds. */
interface Patience {
  /** Since the last one came, as a part of what a trip takes: then nobody else is expected soon. */
  gap: { least: number; most: number; ofTrip: number };
  /** Altogether, for company. */
  company: number;
  /** For a convoy that is under way. */
  return: number;
}

const usualPatience: Patience = { gap: { least: 2, most: 8, ofTrip: 0.3 }, company: 16, return: 50 };

/**
 * The convoy: callers that would pass the same stages one after another set out together, for two halves that
 * follow one another cost twice the operations. Whoever comes while a convoy is under way waits for its return,
 * and then for those who were with it, as most of them have another call. One that is alone waits for nothing.
 */
export function createConvoy(patience = usualPatience) {
  let active = 0;
  let size = 0;
  let expected = 1;
  let trip = 0;
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let patientUntil = 0;

  const underWay = () => active - waiting.length;

  function depart(): void {
    clearTimeout(timer);
    timer = undefined;
    const together = waiting;
    waiting = [];
    size = together.length;
    for (const go of together) go();
  }

  function departIn(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(depart, ms);
  }

  /** As long as they keep coming. */
  function waitForMore(): void {
    const { least, most, ofTrip } = patience.gap;
    const gap = Math.min(most, Math.max(least, ofTrip * trip));
    if (waiting.length >= expected) depart();
    else departIn(Math.min(gap, patientUntil - performance.now()));
  }

  function assemble(): Promise<void> {
    return new Promise((go) => {
      waiting.push(go);
      if (underWay() === 0) waitForMore();
      else if (!timer) departIn(patience.return);
    });
  }

  function arrive(): void {
    expected = size + waiting.length;
    patientUntil = performance.now() + patience.company;
    if (waiting.length > 0) waitForMore();
  }

  /** Runs `call` once the others are there; it counts as active until it has ended. */
  return async function ride<T>(call: () => Promise<T>): Promise<T> {
    active += 1;
    if (active > 1 || expected > 1) await assemble();
    else size = 1;
    const setOut = performance.now();
    try {
      return await call();
    } finally {
      trip = 0.9 * trip + 0.1 * (performance.now() - setOut);
      active -= 1;
      if (underWay() === 0) arrive();
    }
  };
}
