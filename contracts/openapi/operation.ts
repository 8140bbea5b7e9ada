import type { ErrorCode } from '../errors.ts';

/** A refusal as it is answered: the table's text unless the endpoint says it more precisely. */
export interface RefusedAnswer {
  code: ErrorCode;
  text?: string;
  /** Seconds, where the answer carries `Retry-After`. */
  retryAfter?: number;
  /** Whether it is a spend limit: the answer carries `RateLimit` too. */
  spendLimit?: true;
}

/** Everything that the description of an endpoint says beyond its schemas. */
export interface Operation {
  operationId: string;
  tag: 'Hosted flow' | 'OAuth' | 'Sessions' | 'Storefront' | 'Checkbox' | 'Account' | 'Discovery';
  summary: string;
  description: string;
  /** Names of security schemes: all of one entry, any of the entries. None: public. */
  security: Record<string, string[]>[];
  /** Media types of the request body. */
  consumes?: readonly string[];
  /** An example of the request body. */
  request?: Record<string, unknown>;
  /** The body where the client's credentials are in a Basic header: the name of its schema, and an example. */
  withBasic?: { schema: string; request: Record<string, unknown> };
  success: {
    status: number;
    description: string;
    headers?: Record<string, string>;
    example?: unknown;
  };
  errors: readonly RefusedAnswer[];
  /** What any other status is, where no answer is a 2xx. */
  otherwise?: string;
  /** Interface 7.1. */
  errorFormat: 'oauth' | 'general';
  /** Whether refusals are answered with the very texts of `errors` (interface 7.2). */
  exactTexts?: true;
  /** Whether browsers get a page instead of JSON. */
  pages?: true;
  /** `WWW-Authenticate` of its 401. */
  challenge?: 'BearerChallenge' | 'BasicChallenge';
}

/** Method and path as the document names them. */
export type Endpoint = `${'GET' | 'POST'} /${string}`;

const form = 'application/x-www-form-urlencoded';
export const json = 'application/json';
export const formOrJson = [form, json] as const;

/** 429 and 503 of everything that is billed. */
export const spendRefusals: readonly RefusedAnswer[] = [
  { code: 'rate_limited', text: 'Spend limit exceeded: minute bucket', retryAfter: 25, spendLimit: true },
  { code: 'rate_limited', text: 'Spend limit exceeded: hour bucket', retryAfter: 1340, spendLimit: true },
  { code: 'service_unavailable', retryAfter: 5 },
];
