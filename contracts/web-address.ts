import { z } from 'zod';

/** An https address that people may be led to: without user name, password or anything that hides where it leads. */
export const WebAddress = z
  .url({ protocol: /^https$/, error: 'expected an https:// address' })
  .max(2048)
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', {
    error: 'must not hold a user name',
  });
