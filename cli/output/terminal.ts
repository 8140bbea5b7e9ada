/** Returns the line above the output of each command that affects live partners. It is red, unless NO_COLOR is set (no-color.org). */
export function liveNotice(where: string): string {
  const notice = `LIVE: ${where}`;
  const hasColours = process.stderr.isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
  return hasColours ? `\u001b[1;31m${notice}\u001b[0m` : notice;
}

/** Whether there is a terminal at which a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
