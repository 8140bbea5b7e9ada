/** Exit codes by which the database process tells its parent why it ended. Code 0 means that it was asked to end. */
export const exitCode = { portInUse: 48, directoryInUse: 49, engineUnavailable: 50, failed: 1 } as const;
