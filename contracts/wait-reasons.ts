/**
 * The reasons why a due attempt has not been sent yet, as texts that follow "it waits:". This file imports nothing, so that the
 * command line starts without zod.
 */
export const waitReasons = {
  paused: 'the webhooks of its key are paused',
  endpoint_busy: 'as many attempts to its URL are under way as one process makes at a time',
  server_busy: 'as many attempts are under way as one process makes at a time',
  not_taken_up: 'no process with the worker role has taken it up',
} as const;
