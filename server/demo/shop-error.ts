const statuses = {
  invalid_request: 400,
  cross_site_request: 403,
  not_found: 404,
  route_not_found: 404,
  service_unavailable: 503,
} as const;

export type ShopErrorCode = keyof typeof statuses;

export class ShopError extends Error {
  readonly code: ShopErrorCode;

  /** @param message text for developers */
  constructor(code: ShopErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ShopError';
    this.code = code;
  }

  get status(): number {
    return statuses[this.code];
  }
}

/** Converts any error into a ShopError. A request that Fastify refuses gets its 4xx; every other error is a 503. */
export function toShopError(error: unknown): ShopError {
  if (error instanceof ShopError) return error;
  const { message, statusCode = 500 } = error as Error & { statusCode?: number };
  return statusCode < 500
    ? new ShopError('invalid_request', message)
    : new ShopError('service_unavailable', 'The verification service could not be reached.', error);
}
