/**
 * A process that tries mutations for `npm run mutants`, in a copy of the repository of its own. It receives a `Task` and answers
 * a `Result`, one after the other, until its parent disconnects.
 */
import type { Mutation } from './mutation.ts';
import { openWorkspace, type TestResult } from './workspace.ts';

/** The test files to run, and the mutation to plant first, if any. */
export type Task = { tests: readonly string[] } | { mutation: Mutation };
export type Result = TestResult | { fault: string };

// Ctrl-C reaches the whole group. The parent disconnects, so that the copy is removed.
process.on('SIGINT', () => undefined);

const workspace = await openWorkspace({ quick: process.argv.includes('--quick') });

const resultOf = (task: Task): Promise<Result> =>
  ('mutation' in task ? workspace.runMutation(task.mutation) : workspace.runTests(task.tests)).catch(
    (error: Error) => ({ fault: error.message }),
  );

process.on('message', (task: Task) => {
  void resultOf(task).then((result) => {
    if (process.connected) process.send?.(result);
  });
});
process.once('disconnect', () => void workspace.close().then(() => process.exit()));
