/** How the database process tells its parent why it ended. 0 is an ordered end. */
export const exitCode = { portInUse: 48, directoryInUse: 49, engineUnavailable: 50, failed: 1 } as const;
