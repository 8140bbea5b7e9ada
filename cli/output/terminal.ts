/** Whether stderr may get colours: it is a terminal that has them, and NO_COLOR is not set (no-color.org). */
function canShowColours(): boolean {
  return process.stderr.isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
}

const red = (text: string): string => (canShowColours() ? `\u001b[1;31m${text}\u001b[0m` : text);

/** Returns the line above the output of each command that affects live partners. */
export function liveNotice(where: string): string {
  return red(`LIVE: ${where}`);
}

/** Whether there is a terminal at which a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
