/** @throws an error with `message` if `condition` is false */
export function expectThat(condition: boolean, message: string): void {
  if (!condition) throw new Error(message);
}

/** Prints each step with its result and duration. */
export function createReport(write: (text: string) => void = (text) => process.stdout.write(text)) {
  let notes: string[] = [];
  let number = 0;

  function print(mark: string, name: string, startedAt: number): void {
    const ms = Math.round(performance.now() - startedAt);
    const [first = '', ...rest] = notes;
    write(
      `${mark} ${String(number).padStart(2)} ${name.padEnd(14)} ${first.padEnd(62)} ${String(ms).padStart(5)} ms\n`,
    );
    for (const line of rest) write(`${' '.repeat(20)}${line}\n`);
  }

  return {
    note: (...lines: string[]) => {
      notes.push(...lines);
    },
    /** Runs one step. @throws what the step throws, after printing that it failed */
    async step<Value>(name: string, run: () => Promise<Value>): Promise<Value> {
      notes = [];
      number += 1;
      const startedAt = performance.now();
      try {
        const value = await run();
        print('✓', name, startedAt);
        return value;
      } catch (error) {
        print('✗', name, startedAt);
        throw new Error(
          `step ${number} (${name}): ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      }
    },
  };
}
