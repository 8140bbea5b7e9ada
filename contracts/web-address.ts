import { z } from 'zod';
import { absoluteUriFault } from './absolute-uri.ts';
import { withoutHidden } from './display-text.ts';

/**
 * An https address that pages may link to. An address that hides its target is refused, such as one with a user name: readers
 * take `https://bank.example@evil.example/` for a page of bank.example.
 */
export const WebAddress = withoutHidden(
  z
    .url({ protocol: /^https$/, error: 'expected an https:// address', abort: true })
    .max(2048)
    .superRefine((text, context) => {
      // A fragment only names a part of the page.
      const fault = absoluteUriFault(text.replace(/#.*$/, ''));
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
    }),
);
