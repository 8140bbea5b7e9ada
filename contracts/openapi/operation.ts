import type { ErrorCode } from '../errors.ts';

/** A refusal as it is answered: the table's text unless the endpoint says it more precisely. */
export interface Refusal {
  code: ErrorCode;
  text?: string;
  /** Seconds, where the answer carries `Retry-After`. */
  retryAfter?: number;
}

/** Everything that the description of an endpoint says beyond its schemas. */
export interface Operation {
  operationId: string;
  tag: 'Hosted flow' | 'OAuth' | 'Sessions' | 'Storefront' | 'Checkbox' | 'Discovery';
  summary: string;
  description: string;
  /** Names of security schemes: all of one entry, any of the entries. None: public. */
  security: Record<string, string[]>[];
  /** Media types of the request body. */
  consumes?: readonly string[];
  /** An example of the request body. */
  request?: Record<string, unknown>;
  success: {
    status: number;
    description: string;
    headers?: Record<string, string>;
    example?: unknown;
  };
  errors: readonly Refusal[];
  /** What any other status is, where no answer is a 2xx. */
  otherwise?: string;
  /** Interface 7.1. */
  errorFormat: 'oauth' | 'general';
}

/** Method and path as the document names them. */
export type Endpoint = `${'GET' | 'POST'} /${string}`;

const form = 'application/x-www-form-urlencoded';
export const json = 'application/json';
export const formOrJson = [form, json] as const;

/** 429 and 503 of everything that is billed. */
export const spendRefusals: readonly Refusal[] = [
  { code: 'rate_limited', text: 'Spend limit exceeded: minute bucket', retryAfter: 25 },
  { code: 'rate_limited', text: 'Spend limit exceeded: hour bucket', retryAfter: 1340 },
  { code: 'service_unavailable', retryAfter: 5 },
];
