export type Lifecycle = ReturnType<typeof createLifecycle>;

/** Whether this process is starting or stopping, and whether an upgrade of the database has made its build outdated. */
export function createLifecycle() {
  let step: string | undefined = 'the process is starting';
  let isStopRequested = false;
  let outdatedReason: string | undefined;

  return {
    /** The step that the process has to finish before it can serve; undefined when the start is complete. */
    starting: () => step,
    isStopping: () => isStopRequested,
    /** Why this build must not use the database any more; undefined if it may. */
    outdated: () => outdatedReason,
    /** The text for refused requests; undefined if requests are served. */
    closed(): string | undefined {
      if (outdatedReason !== undefined) return 'The build of this process is too old for the database';
      return step === undefined ? undefined : 'This process is starting';
    },

    /** @param next the step that the start waits for; undefined when the start is complete */
    noteStep(next: string | undefined): void {
      step = next;
    },
    requestStop(): void {
      isStopRequested = true;
    },
    becomeOutdated(reason: string): void {
      outdatedReason = reason;
    },
  };
}
