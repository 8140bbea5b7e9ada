/** Whether stderr shows colour: only a terminal, and never where NO_COLOR asks for none (no-color.org). */
function showsColour(): boolean {
  return process.stderr.isTTY && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
}

const red = (text: string): string => (showsColour() ? `\u001b[1;31m${text}\u001b[0m` : text);

/** The line above the output of each command on live partners. */
export function liveNotice(where: string): string {
  return red(`LIVE: ${where}`);
}

/** Whether a person can be asked. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}
