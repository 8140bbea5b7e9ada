import { z } from 'zod';

/** Control characters, and characters that are invisible or change the direction of a text. */
const hiddenCharacter = /[\p{Cc}\p{Cf}]/u;
/**
 * A user name or a password before the host. Readers take `https://bank.example@evil.example/` for a page of bank.example.
 * Browsers ignore further slashes and backslashes before them.
 */
const credentials = /^https:[/\\]*[^/?#\\]*@/i;

/** An https address that pages may link to. An address that hides its target is refused. */
export const WebAddress = z
  .url({ protocol: /^https$/, error: 'expected an https:// address', abort: true })
  .max(2048)
  // Without the slashes, browsers take `https:shop.example` for a path of the page that links to it.
  .regex(/^https:\/\//i, { error: 'expected an https:// address' })
  .refine((text) => !hiddenCharacter.test(text), { error: 'must not contain control characters' })
  .refine((text) => !credentials.test(text), { error: 'must not hold a user name or a password' });
