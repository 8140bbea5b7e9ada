/** The parts of a driver's error that say which servers it tried. */
interface SelectionFailure extends Error {
  reason?: { servers?: ReadonlyMap<string, unknown> };
}

/** What the driver says if the user or the password is wrong. */
const wrongCredentials = 'Authentication failed.';

/** Returns what the operator reads of a failed start: the setting that is to blame if it is known, then the error. */
export function startFailureText(error: unknown, dataDir: string): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name.startsWith('Mongo')) {
    const servers = [...((error as SelectionFailure).reason?.servers?.keys() ?? [])];
    const at = servers.length === 0 ? '' : ` at ${servers.join(', ')}`;
    const advice = error.message === wrongCredentials ? ' Correct the user, the password or authSource.' : '';
    return `MONGODB_URI: the database${at} cannot be used: ${error.message}${advice}`;
  }
  const { path, syscall } = error as NodeJS.ErrnoException;
  // Only the driver asks for these records: those of `mongodb+srv://`.
  if (syscall === 'querySrv') return `MONGODB_URI: the database cannot be found: ${error.message}`;
  if (path?.startsWith(dataDir)) return `SVC_DATA_DIR: the directory cannot be used: ${error.message}`;
  return error.message;
}
