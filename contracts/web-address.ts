import { z } from 'zod';

/** An https address that pages may link to. User names, passwords and characters that hide the target are refused. */
export const WebAddress = z
  .url({ protocol: /^https$/, error: 'expected an https:// address' })
  .max(2048)
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', {
    error: 'must not hold a user name',
  });
