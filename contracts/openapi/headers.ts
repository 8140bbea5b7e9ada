/** The headers of responses, as components of the document. */
export const headers = {
  RequestId: {
    description: 'Names this request: tell it support',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9A-Za-z]{22}$' },
  },
  ErrorCode: {
    description: 'The code of the error, for programs: see the table of errors',
    required: true,
    schema: { type: 'string', pattern: '^[a-z_]+$' },
    example: 'invalid_request',
  },
  Help: {
    description: 'Where the documentation explains this error, as a link with `rel="help"` (RFC 8288)',
    required: true,
    schema: { type: 'string', pattern: '^<[^>]+#[a-z_]+(-1)?>; rel="help"$' },
    example: '<https://verify.example/docs/errors#invalid_request>; rel="help"',
  },
  RetryAfter: {
    description: 'Seconds after which the same request may succeed',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimitPolicy: {
    description:
      'With a spend limit only: the bucket that is exceeded, its events (`q`) and its seconds (`w`)',
    schema: { type: 'string', pattern: '^"(minute|hour)";q=\\d+;w=(60|3600)$' },
    example: '"minute";q=60;w=60',
  },
  RateLimit: {
    description:
      'With a spend limit only: what is left of the bucket (`r`), and seconds until it resets (`t`)',
    schema: { type: 'string', pattern: '^"(minute|hour)";r=0;t=\\d+$' },
    example: '"minute";r=0;t=25',
  },
  BearerChallenge: {
    description: 'RFC 6750: names the error only where a bearer token was sent',
    required: true,
    schema: {
      type: 'string',
      pattern: '^Bearer realm="svc"(, error="invalid_token", error_description="[^"\\\\]+")?$',
    },
    example:
      'Bearer realm="svc", error="invalid_token", error_description="The access token expired at 2026-07-12T15:03:11.000Z"',
  },
  BasicChallenge: {
    description: 'Where the credentials were sent in the header (RFC 6749 5.2)',
    schema: { type: 'string', pattern: '^Basic realm="svc", charset="UTF-8"$' },
  },
} as const;

export const headerReference = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });
