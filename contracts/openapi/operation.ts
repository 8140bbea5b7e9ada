import type { ErrorCode } from '../errors.ts';

/** A refusal in a response. Its text is that of the table unless the endpoint has a more precise one. */
export interface RefusedAnswer {
  code: ErrorCode;
  text?: string;
  /** The seconds in `Retry-After`, if the response has this header. */
  retryAfter?: number;
  /** Set for a spend limit, whose response also has `RateLimit`. */
  spendLimit?: true;
}

/** The groups of the reference, in its order. */
export const tags = [
  { name: 'Hosted flow', description: 'Where the user is sent, and comes back from.' },
  { name: 'OAuth', description: 'From the code to the claims.' },
  { name: 'Sessions', description: 'Where a hosted session stands.' },
  { name: 'Storefront', description: 'Shops that exchange codes by signed calls.' },
  { name: 'Checkbox', description: 'Provisional.' },
  { name: 'Account', description: 'What programs read of a partner’s account.' },
  { name: 'Discovery', description: 'What client libraries find out by themselves.' },
  { name: 'Webhooks', description: 'Events, posted to the URL of an API key.' },
] as const;
/** Webhooks are no endpoints. */
type Tag = Exclude<(typeof tags)[number]['name'], 'Webhooks'>;

/** The description of an endpoint without its schemas. */
export interface Operation {
  operationId: string;
  tag: Tag;
  summary: string;
  description: string;
  /** Names of security schemes. A caller needs all schemes of any one entry. Without entries, the endpoint is public. */
  security: Record<string, string[]>[];
  /** Media types of the request body. */
  consumes?: readonly string[];
  /** An example of the request body. */
  request?: Record<string, unknown>;
  /** The body of a request with a Basic header: the name of its schema, and an example. */
  withBasic?: { schema: string; request: Record<string, unknown> };
  success: {
    status: number;
    description: string;
    headers?: Record<string, string>;
    example?: unknown;
  };
  errors: readonly RefusedAnswer[];
  /** The description of all other statuses. Needed for an endpoint without a 2xx response, because the linter requires one. */
  otherwise?: string;
  /** The format of error bodies at this endpoint (interface 7.1). */
  errorFormat: 'oauth' | 'general';
  /** Set if refusals have exactly the texts of `errors` (interface 7.2). */
  exactTexts?: true;
  /** Set if browsers get a page instead of JSON. */
  pages?: true;
  /** The `WWW-Authenticate` header of a 401. */
  challenge?: 'BearerChallenge' | 'BasicChallenge';
}

/** Method and path as the document names them. */
export type Endpoint = `${'GET' | 'POST'} /${string}`;

const form = 'application/x-www-form-urlencoded';
export const json = 'application/json';
export const formOrJson = [form, json] as const;

/** The refusals with 429 and 503 that every billable endpoint can send, with examples of `Retry-After`. */
export const spendRefusals: readonly RefusedAnswer[] = [
  { code: 'rate_limited', text: 'Spend limit exceeded: minute bucket', retryAfter: 25, spendLimit: true },
  { code: 'rate_limited', text: 'Spend limit exceeded: hour bucket', retryAfter: 1340, spendLimit: true },
  { code: 'service_unavailable', retryAfter: 5 },
];
