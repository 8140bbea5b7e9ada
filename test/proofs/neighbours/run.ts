import { createAttacker } from './attacker.ts';
import { startService } from './service.ts';
import { type Answer, createVictim } from './victim.ts';

export interface Wanted {
  /** The rounds, each with exchanges alone and beside the attacker. */
  rounds: number;
  exchanges: number;
  /** The time between two exchanges in milliseconds. */
  everyMs: number;
}

/** What the victim saw, and what the attack cost. */
export interface Findings {
  alone: Answer[];
  beside: Answer[];
  /** All statuses of `/readyz` during the attack. */
  ready: Set<number>;
  /** The most memory of a process, in MB. */
  memory: number;
  /** The number of answers that the attacker got, by call and status. */
  attack: { name: string; statuses: Record<string, number> }[];
}

/** Exchanges that are not measured, because the first ones of a process compile its code. */
const warmUp = 10;
/** Milliseconds between two looks at the readiness of the service. */
const readyEveryMs = 1_000;

/** Measures a partner's exchanges alone, and beside a partner that sends the largest inputs of everything. */
export async function runNeighbours({ rounds, exchanges, everyMs }: Wanted): Promise<Findings> {
  const service = await startService();
  try {
    const victim = await createVictim(service);
    const attacker = await createAttacker(service);
    const found: Findings = { alone: [], beside: [], ready: new Set(), memory: 0, attack: [] };
    await victim.exchange(await victim.codes(warmUp), everyMs);
    const exchangeAndWatch = async () => {
      const codes = await victim.codes(exchanges);
      return attacker.during(async () => {
        const watch = setInterval(() => {
          void service.ready().then((statuses) => {
            for (const status of statuses) found.ready.add(status);
          });
        }, readyEveryMs);
        return victim.exchange(codes, everyMs).finally(() => clearInterval(watch));
      });
    };
    for (let round = 0; round < rounds; round += 1) {
      found.alone.push(...(await victim.exchange(await victim.codes(exchanges), everyMs)));
      found.beside.push(...(await exchangeAndWatch()));
    }
    found.memory = service.memory();
    found.attack = attacker.answers();
    attacker.end();
    return found;
  } finally {
    await service.end();
  }
}
