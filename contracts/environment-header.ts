/**
 * The header with the server's environment in every response to an operator. This file imports nothing, so that `svcadmin` starts
 * without zod.
 */
export const environmentHeader = 'svc-environment';
/** The header with the expiry of the operator's token, if it expires within a week. */
export const tokenExpiryHeader = 'svc-token-expires';
