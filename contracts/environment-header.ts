/** Header of every answer to an operator: the environment of the server. Apart, because `svcadmin` starts without zod. */
export const environmentHeader = 'svc-environment';
