import { maskSecrets } from '../../platform/telemetry/masking.ts';

/** How many bytes of a response's body are kept. Some more are read, so that a secret at the end can be masked whole. */
export const keptBytes = 4_096;
export const readBytes = keptBytes + 256;

/** Matches usual credentials with their names, in headers and in JSON. */
const namedCredential =
  /\b(?<name>(?:proxy-)?authorization|password|passwd|secret|api[_-]?key|access[_-]?token|refresh[_-]?token|id[_-]?token|client[_-]?secret|cookie|set-cookie)(?<separator>"?\s*[:=]\s*"?)(?:(?:bearer|basic)\s+)?[^\s",;}&]+/gi;
/** Matches the value of an `Authorization` header without its name. */
const bareCredential = /\b(?<scheme>bearer|basic)\s+[\w.~+/=-]{8,}/gi;

/** Stands for an invalid character. Decoding UTF-8 also puts it in the place of invalid bytes. */
const replacement = '\uFFFD';
/** A response with a larger share of invalid characters is not text. */
const largestInvalidShare = 0.1;
/** Only the beginning of a body is kept. A character that is cut off at the end has at most this many invalid bytes. */
const mostInvalidAtCut = 3;

/** Converts the beginning of a body into text that is safe to show, or a remark if it is not text. */
export function answerText(body: Buffer): string {
  const text = body.toString('utf8').replace(/(?![\n\t])\p{Cc}/gu, replacement);
  const invalid = text.split(replacement).length - 1;
  const isBinary = invalid > mostInvalidAtCut && invalid > text.length * largestInvalidShare;
  return isBinary ? '(not text)' : text;
}

/**
 * The part of a response that is kept: at most 4 KiB, without secrets, tokens and the user's subject. A receiver may repeat
 * the request in its response.
 */
export function maskAnswer(text: string, subject: string | undefined): string {
  const withoutSubject = subject === undefined ? text : text.replaceAll(subject, '(masked)');
  const withoutCredentials = withoutSubject
    .replace(namedCredential, '$<name>$<separator>…')
    .replace(bareCredential, '$<scheme> …');
  const kept = Buffer.from(maskSecrets(withoutCredentials)).subarray(0, keptBytes);
  // The last character may be cut off.
  return kept.toString('utf8').replace(/\uFFFD+$/u, '');
}
