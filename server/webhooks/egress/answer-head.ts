/** The most bytes of headers that a response may have, counted as Node.js counts them: names, values and reason. */
export const longestHeaders = 64 * 1024;

/** A status line. The reason and the minor version may be missing, and spaces may be repeated. */
const statusLine = /^HTTP\/\d(?:\.\d)? +(?<status>[1-9]\d\d)(?: .*)?$/i;

/**
 * The status of a response whose head the parser refused, such as one that repeats `Content-Length`. The status is known as soon
 * as its line is complete. Heads of informational responses (1xx) before it are skipped.
 * @param received what the receiver has sent, from the first byte
 * @returns undefined if no status line of a final response is complete
 */
export function finalStatus(received: Buffer): number | undefined {
  // What follows the last line end is not complete.
  const lines = received.toString('latin1').split(/\r?\n/).slice(0, -1);
  let isHeader = false;
  for (const line of lines) {
    if (isHeader) isHeader = line !== '';
    else if (line !== '') {
      const status = Number(statusLine.exec(line)?.groups?.['status']);
      if (Number.isNaN(status)) return undefined;
      // 101 is final: another protocol follows it.
      if (status >= 200 || status === 101) return status;
      isHeader = true;
    }
  }
  return undefined;
}
