/** Header of every answer to an operator: the environment of the server. Apart, because `svcadmin` starts without zod. */
export const environmentHeader = 'svc-environment';
/** Header of an answer to an operator whose token expires within a week: when. */
export const tokenExpiryHeader = 'svc-token-expires';
