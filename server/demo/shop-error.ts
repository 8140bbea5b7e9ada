/** The answers to errors: a page for visitors. */
export const problems = {
  not_found: {
    status: 404,
    title: 'Start at the shop',
    text: 'This browser has no verification here, or the shop was restarted since. Choose "Verify my age" again.',
  },
  invalid_request: {
    status: 400,
    title: 'We could not match your return',
    text: 'This is not the answer that your verification waits for: it may be from an older tab. Choose "Verify my age" again.',
  },
  cross_site_request: {
    status: 403,
    title: 'We could not accept this form',
    text: 'It was not sent from a page of this shop. Nothing has changed: please try again from here.',
  },
  route_not_found: {
    status: 404,
    title: 'There is no such page',
    text: 'Check the address, or go back to the shop.',
  },
  service_unavailable: {
    status: 503,
    title: 'We cannot verify your age right now',
    text: 'The shop could not reach the verification service. Nothing was lost: wait a moment and try again.',
  },
};
type ShopErrorCode = keyof typeof problems;

export class ShopError extends Error {
  readonly code: ShopErrorCode;

  /** @param message text for developers */
  constructor(code: ShopErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ShopError';
    this.code = code;
  }

  get status(): number {
    return problems[this.code].status;
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
