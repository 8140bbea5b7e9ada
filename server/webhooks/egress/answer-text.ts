import { maskSecrets } from '../../platform/telemetry/masking.ts';

/** How many bytes of a response's body are kept. Some more are read, so that a secret at the end can be masked whole. */
export const keptBytes = 4_096;
export const readBytes = keptBytes + 256;

/** Matches names and values of usual credentials, in headers and in JSON. */
const credential =
  /\b((?:proxy-)?authorization|password|passwd|secret|api[_-]?key|access[_-]?token|refresh[_-]?token|id[_-]?token|client[_-]?secret|cookie|set-cookie)("?\s*[:=]\s*"?)(?:(?:bearer|basic)\s+)?[^\s",;}&]+/gi;
const bearer = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;

const replacement = '\uFFFD';
/** A response with a larger share of invalid characters is not text. */
const mostReplaced = 0.1;

/** Converts the beginning of a body into text that is safe to show, or a remark if it is not text. */
export function answerText(body: Buffer): string {
  const text = body.toString('utf8').replace(/(?![\n\t])\p{Cc}/gu, replacement);
  const replaced = text.split(replacement).length - 1;
  // Only the beginning of a body is kept, so its last character may be incomplete. That does not make the body binary.
  if (replaced > 3 && replaced > text.length * mostReplaced) return '(not text)';
  return text;
}

/**
 * The part of a response that is kept: at most 4 KiB, without secrets, tokens and the user's subject. A receiver may repeat
 * the request in its response.
 */
export function maskAnswer(text: string, subject: string | undefined): string {
  const known = subject === undefined ? text : text.replaceAll(subject, '(masked)');
  const masked = maskSecrets(known.replace(credential, '$1$2…').replace(bearer, '$1 …'));
  return Buffer.from(masked)
    .subarray(0, keptBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/u, '');
}
