import { parseArgs } from 'node:util';
import { mutations } from './list.ts';
import type { Mutation } from './mutation.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

const help = `npm run mutants -- [--only TEXT] [--from N] [--quick] [--unchecked] [--list]

Plants one fault after another in a copy of the repository, runs the tests that must notice it, and fails where they do not.

  --only TEXT  mutations whose file or text contains TEXT
  --from N     begins with the Nth of them, to continue a run that was ended
  --quick      without the tests that the quick tier leaves out by their time
  --unchecked  does not run the tests without a mutation first
  --list       names them, and runs nothing
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    from: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    unchecked: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const nameOf = ({ file, find, replace }: Mutation) =>
  `${file}: ${JSON.stringify(find.trim())} → ${JSON.stringify(replace.trim())}`;
const chosen = mutations.filter((mutation) => nameOf(mutation).includes(values.only));
const skipped = Number(values.from) - 1;

async function main(): Promise<number> {
  const workspace = await openWorkspace({ quick: values.quick });
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  try {
    if (!values.unchecked && !(await passesUnchanged(workspace))) return 1;
    let missed = 0;
    for (const [at, mutation] of [...chosen.entries()].slice(skipped)) {
      if (stopping.signal.aborted) return 130;
      const since = performance.now();
      const { verdict, by } = await tryMutation(workspace, mutation);
      if (verdict !== 'killed') missed += 1;
      const seconds = Math.round((performance.now() - since) / 1000);
      console.log(`${at + 1}/${chosen.length} ${verdict} (${seconds} s) ${nameOf(mutation)}`);
      if (by) console.log(`    by ${by}`);
    }
    console.log(`${chosen.length - skipped - missed} killed, ${missed} not`);
    return missed === 0 ? 0 : 1;
  } finally {
    await workspace.close();
  }
}

async function passesUnchanged(workspace: Workspace): Promise<boolean> {
  const { total, failed } = await workspace.runTests([
    ...new Set(chosen.flatMap((mutation) => mutation.tests)),
  ]);
  if (total > 0 && failed.length === 0) return true;
  console.error(`The tests fail without any mutation: ${failed.join(', ') || 'none ran'}`);
  return false;
}

async function tryMutation(workspace: Workspace, mutation: Mutation) {
  try {
    const { total, failed } = await workspace.runMutation(mutation);
    if (total === 0) return { verdict: 'WITHOUT A TEST THAT RAN' };
    return failed.length > 0 ? { verdict: 'killed', by: failed[0] } : { verdict: 'SURVIVED' };
  } catch (error) {
    return { verdict: `DOES NOT APPLY: ${(error as Error).message}` };
  }
}

if (values.help) console.log(help);
else if (values.list) for (const mutation of chosen) console.log(nameOf(mutation));
else if (chosen[skipped]) process.exitCode = await main();
else {
  console.error(
    `Nothing to run: --from is a number from 1 to ${chosen.length}, the mutations that --only leaves.`,
  );
  process.exitCode = 1;
}
