import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { mutations } from './list.ts';
import type { Mutation } from './mutation.ts';
import type { Result, Task } from './worker.ts';

const help = `npm run mutants -- [--only TEXT] [--from N] [--quick] [--unchecked] [--at-once N] [--list]

Plants one fault after another in a copy of the repository, runs the tests that must notice it, and fails where they do not.

  --only TEXT  mutations whose file or text contains TEXT
  --from N     begins with the Nth of them, to continue a run that was ended
  --quick      without the tests that the quick tier leaves out by their time
  --unchecked  does not run the tests without a mutation first
  --at-once N  how many it tries at the same time; 2
  --list       names them, and runs nothing
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    from: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    unchecked: { type: 'boolean', default: false },
    'at-once': { type: 'string', default: '2' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const nameOf = ({ file, find, replace }: Mutation) =>
  `${file}: ${JSON.stringify(find.trim())} → ${JSON.stringify(replace.trim())}`;
const chosen = mutations.filter((mutation) => nameOf(mutation).includes(values.only));
const skipped = Number(values.from) - 1;
const atOnce = Number(values['at-once']);

async function main(): Promise<number> {
  const workers = Array.from({ length: atOnce }, startWorker);
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  try {
    if (!values.unchecked && !(await passesUnchanged(workers[0] as Worker))) return 1;
    const left = [...chosen.entries()].slice(skipped);
    let missed = 0;
    await Promise.all(
      workers.map(async (worker) => {
        for (let next = left.shift(); next && !stopping.signal.aborted; next = left.shift())
          if (!(await isKilled(worker, ...next))) missed += 1;
      }),
    );
    if (stopping.signal.aborted) return 130;
    console.log(`${chosen.length - skipped - missed} killed, ${missed} not`);
    return missed === 0 ? 0 : 1;
  } finally {
    for (const { stop } of workers) stop();
  }
}

/** Starts a process that tries mutations. `run` rejects if the process ends before it answers. */
function startWorker() {
  const child = fork(new URL('worker.js', import.meta.url), values.quick ? ['--quick'] : []);
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`A worker ended with ${code}.`)));
  });
  ended.catch(() => undefined);
  return {
    async run(task: Task): Promise<Result> {
      const answered = once(child, 'message');
      child.send(task);
      const [result] = await Promise.race([answered, ended]);
      return result as Result;
    },
    stop(): void {
      if (child.connected) child.disconnect();
    },
  };
}
type Worker = ReturnType<typeof startWorker>;

async function passesUnchanged(worker: Worker): Promise<boolean> {
  const tests = [...new Set(chosen.flatMap((mutation) => mutation.tests))];
  const result = await worker.run({ tests });
  if ('total' in result && result.total > 0 && result.failed.length === 0) return true;
  const reason = 'fault' in result ? result.fault : result.failed.join(', ') || 'none ran';
  console.error(`The tests fail without any mutation: ${reason}`);
  return false;
}

/** Tries a mutation and prints its verdict. */
async function isKilled(worker: Worker, at: number, mutation: Mutation): Promise<boolean> {
  const since = performance.now();
  const result = await worker.run({ mutation });
  const seconds = Math.round((performance.now() - since) / 1000);
  const { verdict, by } = verdictOf(result);
  console.log(`${at + 1}/${chosen.length} ${verdict} (${seconds} s) ${nameOf(mutation)}`);
  if (by) console.log(`    by ${by}`);
  return by !== undefined;
}

function verdictOf(result: Result): { verdict: string; by?: string } {
  if ('fault' in result) return { verdict: `DOES NOT APPLY: ${result.fault}` };
  if (result.total === 0) return { verdict: 'WITHOUT A TEST THAT RAN' };
  const [by] = result.failed;
  return by === undefined ? { verdict: 'SURVIVED' } : { verdict: 'killed', by };
}

if (values.help) console.log(help);
else if (values.list) for (const mutation of chosen) console.log(nameOf(mutation));
else if (!(atOnce >= 1)) {
  console.error('--at-once is a number from 1 on.');
  process.exitCode = 1;
} else if (chosen[skipped]) process.exitCode = await main();
else {
  console.error(
    `Nothing to run: --from is a number from 1 to ${chosen.length}, the mutations that --only leaves.`,
  );
  process.exitCode = 1;
}
