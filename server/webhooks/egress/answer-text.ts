import { maskSecrets } from '../../platform/telemetry/masking.ts';

/** Bytes of the body of an answer that are kept, and read so that what is cut off can be masked whole. */
export const keptBytes = 4_096;
export const readBytes = keptBytes + 256;

/** A name and a value that others keep secret, in a header or in JSON. */
const credential =
  /\b((?:proxy-)?authorization|password|passwd|secret|api[_-]?key|access[_-]?token|refresh[_-]?token|id[_-]?token|client[_-]?secret|cookie|set-cookie)("?\s*[:=]\s*"?)(?:(?:bearer|basic)\s+)?[^\s",;}&]+/gi;
const bearer = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi;

const replacement = '\uFFFD';
/** The share of bytes that are no text from which on an answer is none. */
const mostReplaced = 0.1;

/** The beginning of a body as text that is safe to show; a remark where it is not text. Empty where the body is. */
export function answerText(body: Buffer): string {
  const text = body.toString('utf8').replace(/(?![\n\t])\p{Cc}/gu, replacement);
  const replaced = text.split(replacement).length - 1;
  // A character may be cut at the end.
  if (replaced > 3 && replaced > text.length * mostReplaced) return '(not text)';
  return text;
}

/**
 * The part of an answer that is kept: at most 4 KiB, without secrets, tokens and the user's subject. A receiver may repeat what it
 * was sent, and more.
 */
export function maskAnswer(text: string, subject: string | undefined): string {
  const known = subject === undefined ? text : text.replaceAll(subject, '(masked)');
  const masked = maskSecrets(known.replace(credential, '$1$2…').replace(bearer, '$1 …'));
  return Buffer.from(masked)
    .subarray(0, keptBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/u, '');
}
