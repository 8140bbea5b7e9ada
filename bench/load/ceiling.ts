import { startProgram } from '../remote.ts';
import type { Load } from './load.ts';

/** The capacity of the load generator itself. */
export interface Ceiling {
  rate: number;
  /** Microseconds of processor time per request. */
  loadCpu: number;
}

const callers = 64;
const requests = Array.from({ length: 20_000 }, () => ({ body: `code=${'x'.repeat(300)}` }));

/** Measures the load generator with a server that does nothing. */
export async function measureCeiling(load: Load): Promise<Ceiling> {
  const blank = startProgram('./load/blank-server.ts');
  const { origin } = await blank.call<{ origin: string }>('start');
  const order = { origins: [origin], path: '/', requests, callers };
  await load.run(order);
  const { seconds, cpuSeconds } = await load.run(order);
  await blank.stop();
  return { rate: requests.length / seconds, loadCpu: (cpuSeconds / requests.length) * 1e6 };
}
