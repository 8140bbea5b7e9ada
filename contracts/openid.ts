import { z } from 'zod';

/** The scope that asks for an ID token (OpenID Connect Core 3.1.2.1). It is no claim. */
export const openidScope = 'openid';

/** The algorithms that sign ID tokens. Many client libraries accept only the first one, which is the default. */
export const idTokenAlgs = ['RS256', 'ES256'] as const;
export const IdTokenAlg = z.enum(idTokenAlgs);
export type IdTokenAlg = z.infer<typeof IdTokenAlg>;

const noControlCharacter = /^\P{Cc}+$/u;

/** The parameters of `/verify/start` that only starts with the scope `openid` read (OpenID Connect Core 3.1.2.1). */
export const openidParameters = {
  nonce: z.string().optional().describe('With `openid`: returned in the ID token, at most 512 characters'),
  prompt: z.string().optional().describe('With `openid`: `none` returns `login_required`'),
  max_age: z
    .string()
    .optional()
    .describe('With `openid`: a passkey is accepted if the user was verified within these seconds'),
  request: z.string().optional().describe('With `openid`: returns `request_not_supported`'),
  request_uri: z.string().optional().describe('With `openid`: returns `request_uri_not_supported`'),
  registration: z.string().optional().describe('With `openid`: returns `registration_not_supported`'),
};

/** The same parameters, where the scope has `openid`. For all other starts, they are unknown parameters. */
export const OpenidStart = z.object({
  response_type: z.literal('code', { error: 'response_type is required' }),
  nonce: z
    .string()
    .max(512, { error: 'nonce must be at most 512 characters' })
    .regex(noControlCharacter, { error: 'nonce must not contain control characters' })
    .optional(),
  prompt: z
    .string()
    .max(256, { error: 'prompt must be at most 256 characters' })
    .transform((text) => text.split(' '))
    .refine((prompts) => !prompts.includes('none') || prompts.length === 1, {
      error: 'prompt none must not be combined with other values',
    })
    .optional(),
  max_age: z
    .string()
    .regex(/^\d{1,10}$/, { error: 'max_age must be a whole number of seconds from 0 to 9999999999' })
    .transform(Number)
    .optional(),
});

/** The errors of the redirect from a start with the scope `openid` (RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6). */
export type StartError =
  | 'invalid_request'
  | 'invalid_scope'
  | 'unsupported_response_type'
  | 'login_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported';
