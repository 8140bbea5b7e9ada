import type { Case } from './cases.ts';
import type { Contender } from './contenders/contender.ts';
import { type Measure, type Measurement, medianOf } from './measure.ts';
import type { Options } from './options.ts';

/** A line of the table: medians over all rounds, by contender. */
export interface Row<Result extends Measurement = Measurement> {
  id: string;
  title: string;
  results: Map<string, Result>;
}

interface Settings extends Pick<Options, 'rounds' | 'seconds' | 'smoke'> {
  measure: Measure;
  progress: (text: string) => void;
}

const fewest = 100;
const most = 12_000;
const inSmoke = 25;
/** Requests in a contender's first round, which does not count. */
const toWarmUp = { alone: 200, together: 1000 };

/** Runs cases in interleaved rounds: every contender once, then every contender again. */
export function createRounds({ measure, rounds, seconds, smoke, progress }: Settings) {
  /** The number of requests that fill a round, computed from the rate of the last one. */
  function countFor(what: Case, lastRate: number | undefined): number {
    if (smoke) return inSmoke;
    if (lastRate === undefined) return what.callers === 1 ? toWarmUp.alone : toWarmUp.together;
    return Math.round(Math.min(what.most ?? most, Math.max(fewest, lastRate * seconds)));
  }

  async function ask(contender: Contender, what: Case, count: number): Promise<Map<string, Measurement>> {
    if (what.section !== 'userinfo') {
      return new Map([[what.id, await measure.exchange(contender, what, count)]]);
    }
    const { cold, warm } = await measure.userinfo(contender, what, count);
    return new Map([
      [`${what.id}-cold`, cold],
      [`${what.id}-warm`, warm],
    ]);
  }

  function rowsOf(what: Case, measured: Map<string, Map<string, Measurement[]>>): Row[] {
    return [...measured].map(([id, byContender]) => ({
      id,
      title: id === what.id ? what.title : `${what.title}, ${id.replace(`${what.id}-`, '')}`,
      results: new Map([...byContender].map(([name, results]) => [name, medianOf(results)])),
    }));
  }

  return {
    /** Runs every contender once at full load, so that all code is compiled before the first case. */
    async warmUp(contenders: readonly Contender[]): Promise<void> {
      for (const contender of contenders) {
        await measure.exchange(
          contender,
          { callers: 64, partnerSet: 'one' },
          smoke ? inSmoke : 2 * toWarmUp.together,
        );
      }
    },

    /** @returns a row; for userinfo two, cold and warm */
    async runCase(what: Case, all: readonly Contender[]): Promise<Row[]> {
      const contenders = all.filter(({ userinfoPath }) => what.section !== 'userinfo' || userinfoPath);
      const measured = new Map<string, Map<string, Measurement[]>>();
      const rates = new Map<string, number>();

      for (let round = smoke ? 1 : 0; round <= rounds; round += 1) {
        for (const contender of contenders) {
          const { name } = contender;
          const results = await ask(contender, what, countFor(what, rates.get(name)));
          for (const [id, result] of results) {
            const { rate } = result;
            if (!id.endsWith('-warm')) rates.set(name, rate);
            progress(`${round === 0 ? 'warm-up' : `round ${round}`}  ${id}  ${name}  ${Math.round(rate)}/s`);
            if (round === 0) continue;
            const byContender = measured.get(id) ?? new Map<string, Measurement[]>();
            measured.set(id, byContender.set(name, [...(byContender.get(name) ?? []), result]));
          }
        }
      }
      return rowsOf(what, measured);
    },
  };
}
